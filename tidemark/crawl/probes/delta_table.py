"""A Delta table's partition by its log, through delta-rs: no Spark, and no scan but for rules about columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from tidemark.crawl.content import content_of
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.measured_rows import measure
from tidemark.crawl.watermark import by_watermark
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import DeltaProbe


def look(source: DeltaProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See DeltaProbe."""
    place = context.secrets.fill(probed.text(source.table))
    declared = {name: context.secrets.fill(value) for name, value in source.options.items()}
    options = {"timeout": f"{context.timeout_seconds}s", **context.secrets.lake_options(place), **declared}
    try:
        table = DeltaTable(place, storage_options=options)
    except TableNotFoundError:
        return Sight(is_there=False, why="there is no such table yet")
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    mine = _in_partition(files, probed.texts(source.partition))
    if not mine:
        version = table.version()
        return Sight(is_there=False, why=f"no file of that partition in version {version}", version=str(version))
    seen = _sight(table.version(), mine)
    if probed.rules:
        # One of the partition's files: its values have the columns' types.
        values = {name: mine[0][f"partition.{name}"] for name in source.partition}
        broken = measure(table.to_pyarrow_dataset(), values, probed, context.timeout_seconds)
        seen = replace(seen, measured=tuple(broken.items()))
    if source.watermark is None:
        return seen
    return by_watermark(seen, source.watermark, _newest(files, source.watermark), probed, context.clock())


def _sight(version: int, mine: list[Mapping[str, Any]]) -> Sight:
    content = content_of((file["path"], file["size_bytes"], _rows(file)) for file in mine)
    counts = [_rows(file) for file in mine]
    rows = None if None in counts else sum(count for count in counts if count is not None)
    why = f"{len(mine)} files, {'an unknown number of' if rows is None else rows} rows in version {version}"
    return Sight(is_there=True, why=why, content=content, rows=rows, version=str(version))


def _in_partition(files: Iterable[Mapping[str, Any]], partition: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The files whose partition has these values, as text. Raises ProbeError for a column that is none."""
    files = list(files)
    for column in partition:
        if files and f"partition.{column}" not in files[0]:
            known = ", ".join(sorted(name.removeprefix("partition.") for name in files[0] if _is_partition(name)))
            raise ProbeError("the table is not partitioned by that column", expected=known or "none", found=column)
    return [file for file in files if all(_is(file[f"partition.{name}"], text) for name, text in partition.items())]


def _is_partition(name: str) -> bool:
    return name.startswith("partition.")


def _is(value: object, text: str) -> bool:
    """Whole numbers are equal however many zeros stand before them: hour 3 and `03`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return text.lstrip("-").isdecimal() and int(text) == value
    return str(value) == text


def _rows(file: Mapping[str, Any]) -> int | None:
    """What the statistics say, without the rows that a deletion vector takes away."""
    records = file.get("num_records")
    if records is None:
        return None
    deleted = next((value for name, value in file.items() if name.lower().endswith("cardinality")), None)
    return int(records) - int(deleted or 0)


def _newest(files: Iterable[Mapping[str, Any]], column: str) -> object:
    """The greatest value of a column in the statistics."""
    ends = [file.get(f"max.{column}", file.get(f"partition.{column}")) for file in files]
    known: list[Any] = [end for end in ends if end is not None]
    return max(known, default=None)
