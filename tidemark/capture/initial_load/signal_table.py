"""The signal table that requests loads from Debezium, one in each instance's database.

See https://debezium.io/documentation/reference/configuration/signalling.html. Debezium also writes the marks around
each chunk into it. Changes of this table arrive with the others and are not data.
"""

from collections.abc import Sequence
from typing import Final

from tidemark.strict_json import json_text

TABLE: Final = "tidemark_signal"
CREATE: Final = f"CREATE TABLE IF NOT EXISTS {TABLE} (id VARCHAR(42) PRIMARY KEY, type VARCHAR(32), data VARCHAR(2048))"
LOAD: Final = "execute-snapshot"
WRITE: Final = f"INSERT INTO {TABLE} (id, type, data) VALUES (%s, '{LOAD}', %s)"  # noqa: S608 - our own name
_ROOM: Final = 2048


def requests(tables: Sequence[str], condition: str = "") -> list[str]:
    """The `data` of the fewest signals that request these tables (`school.orders_0`).

    With a `condition` (SQL), only rows that match it.
    """
    groups: list[list[str]] = [[]]
    for table in tables:
        if groups[-1] and len(_data([*groups[-1], table], condition)) > _ROOM:
            groups.append([])
        groups[-1].append(table)
    return [_data(some, condition) for some in groups if some]


def _data(tables: Sequence[str], condition: str) -> str:
    conditions = [{"data-collection": table, "filter": condition} for table in tables] if condition else []
    some = {"additional-conditions": conditions} if conditions else {}
    return json_text({"data-collections": list(tables), "type": "INCREMENTAL", **some})
