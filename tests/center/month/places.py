"""Places of other programs, each with its own writer: delta-rs, DuckDB, plain files, a database, a web server.

`put` makes the rows of a slice, `remove` takes them away, and `read` is what a run opens: at the version that its
manifest names where the place has versions. Rows are whole numbers.
"""

from __future__ import annotations

import json
import shutil
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol

import duckdb
import pyarrow as pa
import sqlalchemy as sa
from deltalake import DeltaTable, write_deltalake

if TYPE_CHECKING:
    from pathlib import Path

Rows = list[int]
LOOKS: Final = "settle_for: 0s, fresh_for: 0s, late_every: 1s, recheck_for: 3650d"


class Place(Protocol):
    """`told` says that no look of a probe finds a correction: its program has to report it."""

    probe: str
    told: bool

    def put(self, key: str, rows: Rows) -> None: ...
    def remove(self, key: str) -> None: ...
    def read(self, key: str, version: str) -> Rows | None: ...


class DeltaPlace:
    """A table that delta-rs writes; a second writer appends to what is there."""

    def __init__(self, table: Path, looks: str = LOOKS, *, told: bool = False, has_probe: bool = True) -> None:
        self.table, self.told = str(table), told
        delta = f"delta: {{table: '{table}', partition: {{at: '{{key}}'}}}}"
        self.probe = f"probe: {{{delta}, {looks}}}" if has_probe else ""

    def put(self, key: str, rows: Rows) -> None:
        if not DeltaTable.is_deltatable(self.table):
            write_deltalake(self.table, _table(key, []), partition_by=["at"])
        write_deltalake(self.table, _table(key, rows), mode="overwrite", predicate=f"at = '{key}'")

    def remove(self, key: str) -> None:
        DeltaTable(self.table).delete(f"at = '{key}'")

    def read(self, key: str, version: str) -> Rows | None:
        if not DeltaTable.is_deltatable(self.table):
            return None
        table = DeltaTable(self.table, version=int(version) if version.isdecimal() else None)
        rows = table.to_pyarrow_table(filters=[("at", "=", key)], columns=["n"])
        return [int(n) for n in rows["n"].to_pylist()] or None


class TableWithMark(DeltaPlace):
    """A table of the warehouse, and a mark elsewhere that says of a slice that it is there."""

    def __init__(self, table: Path, marks: Path, url: str) -> None:
        super().__init__(table, has_probe=False)
        self._marks, self._numbers = marks, count()
        self.probe = f"probe: {{http: {{url: '{url}/{{key}}.json', field: state, equals: done}}, {LOOKS}}}"

    def put(self, key: str, rows: Rows) -> None:
        super().put(key, rows)
        mark = self._marks / f"{key}.tmp"
        mark.write_text(json.dumps({"state": "done", "number": next(self._numbers)}))
        mark.rename(self._marks / f"{key}.json")

    def remove(self, key: str) -> None:
        (self._marks / f"{key}.json").unlink()
        super().remove(key)


class FilesPlace:
    """A folder for each slice: Parquet files that DuckDB writes, or lines of CSV."""

    told = False

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder, self._kind, self._numbers = folder, kind, count()
        hive = f"partitions: {{path: '{folder}', partition: {{at: '{{key}}'}}}}"
        where = hive if kind == "parquet" else f"files: {{path: '{folder}/at={{key}}'}}"
        self.probe = f"probe: {{{where}, {LOOKS}}}"

    def put(self, key: str, rows: Rows) -> None:
        folder = self._folder / f"at={key}"
        before = [*folder.glob("*")]
        folder.mkdir(parents=True, exist_ok=True)
        file, hidden = folder / f"part-{next(self._numbers)}.{self._kind}", folder / "_part"
        if self._kind == "parquet":
            with duckdb.connect() as session:
                session.register("given", _table(key, rows))
                session.execute(f"COPY (SELECT n FROM given) TO '{hidden}' (FORMAT parquet)")  # noqa: S608
        else:
            hidden.write_text("\n".join(["n", *map(str, rows)]) + "\n")
        hidden.rename(file)
        for old in before:
            old.unlink()

    def remove(self, key: str) -> None:
        shutil.rmtree(self._folder / f"at={key}")

    def read(self, key: str, version: str) -> Rows | None:  # noqa: ARG002 - files have no versions
        files = [str(file) for file in (self._folder / f"at={key}").glob("part-*")]
        if not files:
            return None
        reads = "read_parquet" if self._kind == "parquet" else "read_csv"
        with duckdb.connect() as session:
            return [int(n) for (n,) in session.execute(f"SELECT n FROM {reads}(?)", [files]).fetchall()]  # noqa: S608


class SqlPlace:
    """Rows of a database, of which a probe sees the number alone."""

    told = True

    def __init__(self, url: str, shown: str) -> None:
        self._engine = sa.create_engine(url)
        with self._engine.begin() as session:
            session.execute(sa.text("CREATE TABLE month_rows (at varchar(20), n bigint)"))
        sql = f"sql: {{url: '{shown}', table: month_rows, partition: {{at: '{{key}}'}}}}"
        self.probe = f"probe: {{{sql}, {LOOKS}}}"

    def put(self, key: str, rows: Rows) -> None:
        with self._engine.begin() as session:
            session.execute(sa.text("DELETE FROM month_rows WHERE at = :key"), {"key": key})
            session.execute(sa.text("INSERT INTO month_rows VALUES (:key, :n)"), [{"key": key, "n": n} for n in rows])

    def remove(self, key: str) -> None:
        with self._engine.begin() as session:
            session.execute(sa.text("DELETE FROM month_rows WHERE at = :key"), {"key": key})

    def read(self, key: str, version: str) -> Rows | None:  # noqa: ARG002 - rows have no versions
        with self._engine.connect() as session:
            rows = session.execute(sa.text("SELECT n FROM month_rows WHERE at = :key"), {"key": key})
            return [int(n) for (n,) in rows] or None


def _table(key: str, rows: Rows) -> pa.Table:
    return pa.table({"at": pa.array([key] * len(rows), pa.string()), "n": pa.array(rows, pa.int64())})
