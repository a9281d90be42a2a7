"""A partition of a Delta table from its log, through delta-rs:

without Spark, and with a scan only for rules about columns.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from tidemark.crawl.content import content_of
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.measured_rows import TimeSpan, count_and_content, measure, newest_value
from tidemark.crawl.rule_query import columns_of
from tidemark.crawl.watermark import by_watermark
from tidemark.delta.hidden_rows import hidden_rows
from tidemark.delta.live_file import file_name
from tidemark.delta.published_slice import PublishedGeneration, published_generation, told_by_commit
from tidemark.delta.rows_without_spark import QueriedRows, TableQuery, equal_to, rows_of_plain_files, stored_name
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import pyarrow.dataset as ds

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.delta.hidden_rows import HiddenRows
    from tidemark.dependency_model.entity.probe import DeltaProbe

_COMPARABLE: Final = (date, str, int)


def look(source: DeltaProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See DeltaProbe. Raises ProbeError, and TableFeatureError for rows that only Spark can read."""
    place = context.secrets.place(probed.text(source.table))
    declared = {name: context.secrets.fill(value) for name, value in source.options.items()}
    options = {"timeout": f"{context.timeout_seconds}s", **context.secrets.lake_options(place), **declared}
    try:
        table = DeltaTable(place, storage_options=options)
    except TableNotFoundError:
        return Sight(is_there=False, why="the table does not exist yet")
    published, fault = None, ""
    if source.replica_of is not None:
        slice_ = str(probed.slice._replace(entity=source.replica_of))
        published = published_generation(table, slice_)
        if published is None:
            return Sight(is_there=False, why=f"{slice_} was not published by version {table.version()}")
        fault = _fault(place, options, published)
        table.load_as_version(published.version)
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    mine = _in_partition(files, probed.texts(source.partition))
    if not mine and published is None and source.at_least:
        version = table.version()
        return Sight(is_there=False, why=f"the partition has no files in version {version}", version=str(version))
    seen = _sight(table.version(), mine, hidden_rows(table, source.table))
    if published is not None:
        generation = f"generation {published.generation}"
        why = f"{generation}: {fault or seen.why}"
        seen = replace(
            seen, content=generation, why=why, fault=fault, origin=told_by_commit(place, options, published.version)
        )
    if mine and (probed.rules or source.time_column is not None):
        # The values of the partition's first file have the columns' types.
        values = {name: mine[0][f"partition.{name}"] for name in source.partition}
        seen = _scanned(seen, table, source, values, probed, context.timeout_seconds)
    if source.watermark is None:
        return seen
    newest = _newest(files, source.watermark, stored_name(table, source.watermark))
    if newest is None:
        rows = _rows_with(table, source, "", {source.watermark})
        newest = newest_value(rows, source.watermark, probed, context.timeout_seconds)
    return by_watermark(seen, source.watermark, newest, probed, context.clock(), probed.time_zone)


def _fault(place: str, options: Mapping[str, str], published: PublishedGeneration) -> str:
    """The fault that the source found after it had published the slice; empty without one."""
    if published.fault_version is None:
        return ""
    return str(told_by_commit(place, options, published.fault_version).get("fault") or "its source found it wrong")


def _scanned(
    seen: Sight, table: DeltaTable, source: DeltaProbe, values: Mapping[str, Any], probed: ProbedSlice, seconds: int
) -> Sight:
    """The result with what a scan finds: the rows of the window, and the rows that break rules."""
    columns = pa.schema(table.schema().to_arrow())
    span = None if source.time_column is None else TimeSpan.of(columns, source.time_column, probed)
    if span is not None:
        rows = _rows_to_scan(table, source, values, columns.names)
        count, content = count_and_content(rows, values, span, probed, seconds)
        why = f"{count} rows in version {table.version()}"
        seen = replace(seen, is_there=count >= source.at_least, why=why, content=content, rows=count)
    if not probed.rules:
        return seen
    rows = _rows_to_scan(table, source, values, {*columns_of(probed.rules), *([] if span is None else [span.column])})
    return replace(seen, measured=tuple(measure(rows, columns, values, probed, seconds, span).items()))


def _rows_to_scan(
    table: DeltaTable, source: DeltaProbe, values: Mapping[str, Any], columns: Collection[str]
) -> ds.Dataset | QueriedRows:
    """The table's rows for DuckDB, which only reads what it needs from plain files. Raises TableFeatureError."""
    # DuckDB compares values of other types itself.
    files_of = equal_to({name: value for name, value in values.items() if type(value) in _COMPARABLE})
    return _rows_with(table, source, files_of, {*values, *columns})


def _rows_with(
    table: DeltaTable, source: DeltaProbe, condition: str, columns: Collection[str]
) -> ds.Dataset | QueriedRows:
    """The rows that fulfil a condition, or all, with at least these columns."""
    plain = rows_of_plain_files(table)
    if plain is not None:
        return plain
    needed = {name.lower() for name in columns}
    names = tuple(field.name for field in table.schema().fields if field.name.lower() in needed)
    return QueriedRows(TableQuery.of(table, source.table), condition, names)


def _sight(version: int, mine: list[Mapping[str, Any]], hidden: Mapping[str, HiddenRows]) -> Sight:
    hiding = [hidden.get(file_name(file["path"])) for file in mine]
    counts = [_rows(file, rows) for file, rows in zip(mine, hiding, strict=True)]
    content = content_of(
        (file["path"], file["size_bytes"], count, *(() if rows is None else (rows.positions,)))
        for file, rows, count in zip(mine, hiding, counts, strict=True)
    )
    rows = None if None in counts else sum(count for count in counts if count is not None)
    why = f"{len(mine)} files, {'an unknown number of' if rows is None else rows} rows in version {version}"
    return Sight(is_there=True, why=why, content=content, rows=rows, version=str(version))


def _in_partition(files: Iterable[Mapping[str, Any]], partition: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The files whose partition has these values, as text. Raises ProbeError for an unknown column."""
    files = list(files)
    for column in partition:
        if files and f"partition.{column}" not in files[0]:
            known = ", ".join(sorted(name.removeprefix("partition.") for name in files[0] if _is_partition(name)))
            raise ProbeError("the table is not partitioned by that column", expected=known or "none", found=column)
    return [file for file in files if all(_is(file[f"partition.{name}"], text) for name, text in partition.items())]


def _is_partition(name: str) -> bool:
    return name.startswith("partition.")


def _is(value: object, text: str) -> bool:
    """Compares a value of the log with a text as Spark's CAST reads it: `03` is 3, `1.5` is 1.50. No text is NULL."""
    match value:
        case bool():
            return text.lower() == str(value).lower()
        case int():
            return text.lstrip("-").isdecimal() and int(text) == value
        case Decimal() | float() | datetime():
            with suppress(ValueError, ArithmeticError):
                return _read_as(type(value), text) == value or text.lower() == str(value)
            return False
    return value is not None and str(value) == text


def _read_as(kind: type, text: str) -> object:
    return datetime.fromisoformat(text) if kind is datetime else kind(text)


def _rows(file: Mapping[str, Any], hidden: HiddenRows | None) -> int | None:
    """The rows in the statistics, without the rows that a deletion vector removes."""
    records = file.get("num_records")
    return None if records is None else int(records) - (0 if hidden is None else hidden.count)


def _newest(files: Iterable[Mapping[str, Any]], column: str, stored: str) -> object:
    """The greatest value of a column in the statistics, which use its name in files.

    None if they lack it for some file: they only have the first columns of a table, or the configured ones.
    """
    ends: list[Any] = []
    for file in files:
        end = file.get(f"max.{stored}", file.get(f"partition.{column}"))
        if end is not None:
            ends.append(end)
        elif f"partition.{column}" not in file and file.get(f"null_count.{stored}") != file.get("num_records", -1):
            return None
    return max(ends, default=None)
