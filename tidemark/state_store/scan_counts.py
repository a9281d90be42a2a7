"""Counts of the columns that queries of all hosts filter by, by table and day."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, func, select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.schema import SCAN_COUNTS
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.state_store.database import Database

KEPT_DAYS: Final = 90
"""Counts older than this are not used any more."""
_DAY: Final = 86_400_000_000


class ScanCounts:
    """Counts for all tables of a lake."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, scans: Mapping[tuple[str, frozenset[str]], int]) -> None:
        """Add scans of a table (by location) that filtered by these columns together. Raises StateStoreDownError."""
        if not scans:
            return
        with self._database.writing() as connection:
            day = database_now(connection) // _DAY
            for (location, columns), number in scans.items():
                key = {"location": location, "columns": json_text(sorted(columns)), "day": day}
                mine = [SCAN_COUNTS.c[name] == value for name, value in key.items()]
                more = SCAN_COUNTS.update().where(*mine).values(scans=SCAN_COUNTS.c.scans + number)
                if not connection.execute(more).rowcount:
                    connection.execute(SCAN_COUNTS.insert().values(**key, scans=number))
                    connection.execute(delete(SCAN_COUNTS).where(SCAN_COUNTS.c.day < day - KEPT_DAYS))

    def of(self, location: str) -> Counter[frozenset[str]]:
        """The number of scans of a table by combination of filter columns. Raises StateStoreDownError."""
        query = select(SCAN_COUNTS.c["columns"], func.sum(SCAN_COUNTS.c.scans)).where(
            SCAN_COUNTS.c.location == location
        )
        with self._database.reading() as connection:
            rows = connection.execute(query.group_by(SCAN_COUNTS.c["columns"])).all()
        return Counter({frozenset(json.loads(columns)): int(scans) for columns, scans in rows})
