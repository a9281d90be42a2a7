"""Record the store as today's program leaves it: `python -m tests.state_store.recorded_stores.record`."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary, insert

from tests.components.postgres import postgres
from tests.state_store.recorded_stores import FOLDER
from tidemark.state_store.database import Database
from tidemark.state_store.migrations import migrations
from tidemark.state_store.schema import METADATA, MIGRATIONS

if TYPE_CHECKING:
    from sqlalchemy import Column

_TEXTS: Final = {
    "entity": "ods_orders",
    "period": "day",
    "slice": "2026-03-23",
    "key": "2026-03-23",
    "life": "completed",
    "states": "[]",
    "issues": "[]",
    "tagged_at": "2026-03-24T00:00:00+00:00",
}


def main() -> None:
    """Write the two dumps of the newest step."""
    name = f"step_{migrations()[-1].number:02d}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        _fill(Database.at(file))
        with closing(sqlite3.connect(file)) as store:
            dump = [re.sub(r"\s*\n\s*", " ", line) for line in store.iterdump()]
    (FOLDER / f"{name}.sqlite.sql").write_text("\n".join(dump) + "\n", "utf-8")
    with postgres() as server:
        _fill(Database(server.url))
        (FOLDER / f"{name}.postgresql.sql").write_text(_dumped(server.dsn), "utf-8")


def _fill(database: Database) -> None:
    with database.writing() as connection:
        for table in METADATA.sorted_tables:
            if table is not MIGRATIONS:
                connection.execute(insert(table).values({name: _value(column) for name, column in table.c.items()}))
    database.close()


def _value(column: Column[object]) -> object:
    if isinstance(column.type, Boolean):
        return False
    if isinstance(column.type, LargeBinary):
        return b"\0\1"
    if isinstance(column.type, (Integer, BigInteger)):
        return 5
    return _TEXTS.get(column.name, f"{column.name} of {column.table.name}")


def _dumped(dsn: str) -> str:
    """What pg_dump says, a statement a line."""
    command = ["pg_dump", "--inserts", "--no-owner", "--no-acl", dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if line and not line.startswith(("--", "\\"))]
    return re.sub(r"\n\s+|\n(?=\);)", " ", "\n".join(lines)) + "\n"


if __name__ == "__main__":
    main()
