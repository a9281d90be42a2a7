"""Rules of an external slice with rows in files: DuckDB counts the rows that break them, in one query (A5)."""

from __future__ import annotations

import re
from dataclasses import replace
from threading import Timer
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa
from deltalake.exceptions import DeltaError

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.outside_rows import OutsideRows
from tidemark.crawl.rule_query import (
    Figure,
    SourceRows,
    columns_of,
    condition,
    figures_of,
    measured,
    quote_name,
)
from tidemark.dependency_model.entity.quality_rules import Freshness
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import date

    import pyarrow.dataset as ds
    from pyarrow.fs import FileInfo

    from tidemark.crawl.folders import Folder
    from tidemark.crawl.json_lines import JsonLines
    from tidemark.crawl.outside_rows import FileByFile
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.delta.rows_without_spark import QueriedRows
    from tidemark.dependency_model.arrival.sighting import Sight

    ArrowRows: TypeAlias = ds.Dataset | JsonLines | FileByFile | QueriedRows


DUCKDB: Final = "duckdb"
_RELATION: Final = "slice_of_table"
_WHOLE_HOURS: Final = re.compile(r"UTC([+-])(\d{1,2})(?::00)?")
_CONFINED: Final[dict[str, str | bool | int | float | list[str]]] = {"threads": "2", "memory_limit": "1GB"}

_MARKS: Final[Mapping[str, tuple[Callable[[pa.DataType], bool], ...]]] = {
    "?": (pa.types.is_temporal, pa.types.is_boolean),
    "encode(?)": (pa.types.is_binary,),
    "CAST(? AS DOUBLE)": (pa.types.is_floating,),
}
"""Bound texts, for comparison with columns: DuckDB gives a plain mark the type of the column."""

Measured = dict[str, float | None]


class TimeSpan(NamedTuple):
    """Rows whose `column` has a time in `[start, end)`, in the column's type."""

    column: str
    start: date
    end: date

    @classmethod
    def of(cls, columns: pa.Schema, column: str, probed: ProbedSlice) -> TimeSpan:
        """The window of a slice. A time without a zone is on the slice's clock. Raises ProbeError for other columns."""
        _require_columns(columns, {column})
        kind = next(field.type for field in columns if field.name.lower() == column.lower())
        if probed.window is None or not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise ProbeError(
                "the slice's rows cannot be selected by time", expected=f"{column} as a date or a time", found=str(kind)
            )
        ends = (probed.window.start, probed.window.end)
        if pa.types.is_timestamp(kind) and kind.tz:
            return cls(column, *ends)
        local = [end.astimezone(zone_info(probed.time_zone)).replace(tzinfo=None) for end in ends]
        return cls(column, *(local if pa.types.is_timestamp(kind) else [end.date() for end in local]))


def measure(
    rows: ArrowRows,
    columns: pa.Schema,
    partition: Mapping[str, object],
    probed: ProbedSlice,
    seconds: int,
    span: TimeSpan | None = None,
) -> Measured:
    """The rows with these values and times that break each rule, within `seconds` seconds.

    `columns` are those of the rows. Raises ProbeError.
    """
    mine = _rows_of_slice(partition, span, columns)
    _require_columns(columns, columns_of(probed.rules) | partition.keys())
    figures = figures_of(probed.rules, mine)
    query, values = mine.query(list(figures.values()))
    answer = _answer(rows, query, values, probed.time_zone, seconds)
    return measured(probed.rules, figures, answer, probed, probed.time_zone)


def count_and_content(
    rows: ArrowRows,
    partition: Mapping[str, object],
    span: TimeSpan,
    probed: ProbedSlice,
    seconds: int,
) -> tuple[int, str]:
    """The number of rows, and a text that changes whenever they do. Raises ProbeError."""
    content = Figure(f"sum(md5_number_lower(CAST({_RELATION} AS VARCHAR)))")
    query, values = _rows_of_slice(partition, span, pa.schema([])).query([Figure("count(*)"), content])
    count, total = _answer(rows, query, values, probed.time_zone, seconds)
    return int(count), f"{count} {total or 0}"


def _rows_of_slice(partition: Mapping[str, object], span: TimeSpan | None, columns: pa.Schema) -> SourceRows:
    bound: list[tuple[str, object]] = [("1 = ?", 1)]
    bound += [(condition(name, "=", DUCKDB), value) for name, value in partition.items()]
    if span is not None:
        bound += [(condition(span.column, sign, DUCKDB), end) for sign, end in ((">=", span.start), ("<", span.end))]
    where, values = " AND ".join(text for text, _ in bound), tuple(value for _, value in bound)
    kinds = {field.name.lower(): field.type for field in columns}
    texts = frozenset(name for name, kind in kinds.items() if pa.types.is_string(kind))
    marks = {
        name: mark for name, kind in kinds.items() for mark in _MARKS if any(is_kind(kind) for is_kind in _MARKS[mark])
    }
    instants = frozenset(
        name for name, kind in kinds.items() if pa.types.is_timestamp(kind) and kind.tz and kind.unit != "ns"
    )
    return SourceRows(DUCKDB, _RELATION, where, values, texts, marks, instants)


def newest_value(rows: ArrowRows, column: str, probed: ProbedSlice, seconds: int) -> object:
    """The greatest value of a column over all rows; None without one. Raises ProbeError."""
    query = f"SELECT max({quote_name(column, DUCKDB)}) FROM {_RELATION}"  # noqa: S608 - a quoted name
    return next(iter(_answer(rows, query, (), probed.time_zone, seconds)), None)


def _answer(rows: ArrowRows, query: str, values: Sequence[object], time_zone: str, seconds: int) -> Sequence[Any]:
    """The first row of a query's result, on the clock of a zone."""
    try:
        with duckdb.connect(config=_CONFINED) as session:
            session.execute(f"SET TimeZone = '{_zone(time_zone)}'")
            session.register(_RELATION, rows)
            timer = Timer(seconds, session.interrupt)
            timer.start()
            try:
                return session.execute(query, list(values)).fetchone() or ()
            finally:
                timer.cancel()
    except (DeltaError, duckdb.Error, pa.ArrowException, OSError) as error:
        raise ProbeError.of_rows(error) from error


def _zone(time_zone: str) -> str:
    """DuckDB's name of a zone: `UTC+8` is `Etc/GMT-8`, whose sign is reversed."""
    fixed = _WHOLE_HOURS.fullmatch(time_zone)
    return f"Etc/GMT{'-' if fixed[1] == '+' else '+'}{int(fixed[2])}" if fixed else time_zone


def _require_columns(columns: pa.Schema, needed: Collection[str]) -> None:
    """DuckDB reads a quoted name that is not a column as a function, such as `user`. Raises ProbeError.

    The error does not show other columns: without a header, the first row of a CSV file counts as their names.
    """
    there = {name.lower() for name in columns.names}
    missing = sorted(name for name in needed if name.lower() not in there)
    if missing:
        raise ProbeError(
            "the rules use columns that the rows do not have",
            expected=", ".join(missing),
            found=f"{len(there):,} columns without {'it' if len(missing) == 1 else 'them'}",
        )


def with_rules(
    seen: Sight, folder: Folder, data: Sequence[FileInfo], probed: ProbedSlice, context: ProbeContext
) -> Sight:
    """The result with the rows of its data files that break the slice's rules. Raises ProbeError."""
    if not probed.rules or not data:
        return seen
    rows = OutsideRows(folder, data)
    if rows.schema:
        rows.require_quotes()
        broken = measure(rows.arrow, rows.schema, {}, probed, context.timeout_seconds)
    else:
        broken = {name: None if isinstance(rule, Freshness) else 0 for name, rule in probed.rules.items()}
    return replace(seen, rows=rows.count() if seen.rows is None else seen.rows, measured=tuple(broken.items()))
