"""The table through which Debezium is asked to read tables, one in each instance's database.

https://debezium.io/documentation/reference/configuration/signalling.html; Debezium itself writes the marks between
which it reads a chunk there, too. Its changes come with the others and are no data.
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
    """The `data` of signals that ask for these tables (`school.orders_0`), as few as the column has room for.

    With a `condition` (SQL) of the rows alone for which it is true.
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
