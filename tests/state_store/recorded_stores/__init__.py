"""Stores as the program left them after each step, as SQLite and pg_dump write them: `step_NN.DATABASE.sql`.

Each was written by the program of its time, with one row a table, and is never written again. After a new step,
`python -m tests.state_store.recorded_stores.record` adds the two of it.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg2
from sqlalchemy import create_engine, inspect, make_url

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedIndex

FOLDER: Final = Path(__file__).parent


def recorded_steps(dialect: str) -> tuple[int, ...]:
    """After which steps there is a store."""
    return tuple(sorted(int(file.name[5:7]) for file in FOLDER.glob(f"step_*.{dialect}.sql")))


def play(url: str, step: int) -> None:
    """Make the store in an empty database."""
    target = make_url(url)
    text = (FOLDER / f"step_{step:02d}.{target.get_backend_name()}.sql").read_text("utf-8")
    if target.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(target.database))) as file:
            file.executescript(text)
        return
    with closing(psycopg2.connect(target.set(drivername="postgresql").render_as_string(hide_password=False))) as server:
        server.cursor().execute(text)
        server.commit()


def shape(url: str) -> dict[str, Any]:
    """Tables with their columns, keys and indexes, in no order."""
    engine = create_engine(url)
    there = inspect(engine)
    columns, keys = there.get_multi_columns(), there.get_multi_pk_constraint()
    unique, indexes = there.get_multi_unique_constraints(), there.get_multi_indexes()
    engine.dispose()
    return {
        str(name): {
            "columns": {column["name"]: _column(column) for column in columns[schema, name]},
            "key": keys[schema, name]["constrained_columns"],
            "unique": sorted(tuple(constraint["column_names"]) for constraint in unique.get((schema, name), ())),
            "indexes": {str(index["name"]): _index(index) for index in indexes.get((schema, name), ())},
        }
        for schema, name in columns
    }


def _column(column: ReflectedColumn) -> tuple[str, bool, str]:
    return repr(column["type"]), column["nullable"], str(column["default"]).split("::")[0].strip("'")


def _index(index: ReflectedIndex) -> tuple[object, bool, str]:
    """Columns, whether they are unique, which rows it holds: PostgreSQL writes a condition with casts or without."""
    where = next((str(value) for key, value in index["dialect_options"].items() if key.endswith("_where")), "")
    return index["column_names"], bool(index["unique"]), re.sub(r"::[a-z ]+(?:\[\])?|[()]", "", where)
