"""Answers of the source database during the recording, and their comparison with the lake.

delta-rs and DuckDB read the lake here. Neither wrote it, so the check shares no code with the checked code.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import lzma
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import duckdb

from tidemark.compute.business_time import partition_values
from tidemark.console.demo.errors import SampleError
from tidemark.delta.delta_rs_table import read_rows
from tidemark.quoting.standard import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidemark.olap.store import OlapStore
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse


DATABASE: Final = "the database's own answers"


@dataclass(frozen=True)
class OracleSnapshot:
    """Row count and content checksum of one logical table at the end of one slice."""

    table: str
    period: str
    slice: str
    rows: int
    checksum: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class OracleMetric:
    """The expected rows of an ADS slice."""

    entity: str
    slice: str
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class OracleAnswers:
    """All recorded answers of the database."""

    snapshots: tuple[OracleSnapshot, ...]
    metrics: tuple[OracleMetric, ...]


@dataclass
class Comparison:
    """The number of comparisons with `against`, the number of equal ones, and the first differences in words."""

    checked: int = 0
    equal: int = 0
    differences: list[str] = field(default_factory=list)
    against: str = DATABASE

    def add(self, name: str, expected: object, actual: object) -> None:
        """Count one comparison."""
        self.checked += 1
        if expected == actual:
            self.equal += 1
        else:
            self.differences.append(f"{name}: expected {expected} by {self.against}, the lake has {actual}")


def load_oracle(sample: Path) -> OracleAnswers:
    """Read sample/oracle.json.xz. Raises SampleError."""
    path = sample / "oracle.json.xz"
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise SampleError("the oracle cannot be read", found=str(error), where=str(path)) from error
    return OracleAnswers(
        tuple(OracleSnapshot(**{**entry, "columns": tuple(entry["columns"])}) for entry in content["snapshots"]),
        tuple(OracleMetric(entry["entity"], entry["slice"], tuple(entry["rows"])) for entry in content["metrics"]),
    )


def compare_snapshots(oracle: Sequence[OracleSnapshot], warehouse: Warehouse, registry: SnapshotRegistry) -> Comparison:
    """Compare rows and checksum of every tagged version with the database's."""
    result = Comparison()
    for expected in oracle:
        entity = f"ods_{expected.table}" + ("_1h" if expected.period == "hour" else "")
        tagged = registry.get(entity, expected.period, expected.slice)
        actual = None if tagged is None else _checksum(warehouse.table_path(entity), tagged.version, expected.columns)
        result.add(f"{entity}@{expected.slice}", (expected.rows, expected.checksum), actual)
    return result


def _checksum(path: TableLocation, version: int, columns: Sequence[str]) -> tuple[int, str]:
    """(rows, checksum) as in sample/README.md: the sum of the first 60 bits of each row's MD5."""
    lake = read_rows(path, version, ["_shard", *columns])
    text = ", ".join(f"coalesce({_text(lake.schema.field(name).type, name)}, '\\N')" for name in columns)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("lake", lake)
        digest = f"('0x' || substr(md5(concat_ws('|', _shard, {text})), 1, 15))::BIGINT::HUGEINT"
        (row,) = connection.execute(f"SELECT count(*), coalesce(sum({digest}), 0)::VARCHAR FROM lake").fetchall()  # noqa: S608 - quoted names
    return int(row[0]), str(row[1])


def _text(kind: object, name: str) -> str:
    """A column in the text form of the source database: instants without zone or fraction."""
    if str(kind).startswith("timestamp"):
        return f"strftime({quote(name, 'duckdb')}, '%Y-%m-%d %H:%M:%S')"
    return f"{quote(name, 'duckdb')}::VARCHAR"


def compare_metrics(
    oracle: Sequence[OracleMetric], warehouse: Warehouse, store: OlapStore, against: str = DATABASE
) -> Comparison:
    """Compare every value of every ADS slice in the OLAP store with the expected one."""
    result = Comparison(against=against)
    for expected in oracle:
        entity = warehouse.entities[expected.entity]
        partition = partition_values(str(entity.period), expected.slice)
        rows = store.read(expected.entity, partition).to_pylist()
        names = list(expected.rows[0]) if expected.rows else []
        rows_left = Counter(tuple(plain(row.get(name)) for name in names) for row in rows)
        for wanted in expected.rows:
            values = tuple(plain(wanted[name]) for name in names)
            hit = rows_left[values] > 0
            rows_left[values] -= hit
            result.checked += len(names)
            result.equal += len(names) if hit else 0
            if not hit:
                result.differences.append(
                    f"{expected.entity}@{expected.slice}: missing row {dict(zip(names, values, strict=True))}"
                )
        surplus = sum(rows_left.values())
        if surplus or not expected.rows:
            result.add(f"{expected.entity}@{expected.slice}: unexpected rows", 0, surplus)
    return result


def plain(value: object) -> object:
    """Numbers by value regardless of type, dates as text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | decimal.Decimal):
        return decimal.Decimal(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    text = str(value)
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text
