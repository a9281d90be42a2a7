"""What a materialization tells the Dagster UI: figures, a preview table and, for ADS, a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg
from pyspark.sql import functions as F

from warehouse_assets.plot import slice_plot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from warehouse_assets.compute import ComputedSlice

PREVIEW_ROWS: Final = 8
HISTORY_SLICES: Final = 48
_TIME_TYPES: Final = ("timestamp", "timestamp_ntz")


def slice_metadata(computed: Sequence[ComputedSlice]) -> dict[str, dg.MetadataValue[Any]]:
    """Metadata of one run over one or several slices: totals, and a row a slice where there are several."""
    last = computed[-1]
    metadata: dict[str, dg.MetadataValue[Any]] = {
        "dagster/row_count": dg.IntMetadataValue(sum(one.rows for one in computed)),
        "bytes": dg.IntMetadataValue(sum(one.size_bytes for one in computed)),
        "delta_version": dg.IntMetadataValue(last.version),
        "seconds": dg.FloatMetadataValue(round(sum(one.seconds for one in computed), 3)),
        "preview": dg.MarkdownMetadataValue(last.preview),
        "table": dg.PathMetadataValue(str(last.path)),
    }
    times = [one.event_times for one in computed if one.event_times]
    if times:
        metadata["min_event_time"] = dg.TextMetadataValue(min(first for first, _ in times))
        metadata["max_event_time"] = dg.TextMetadataValue(max(end for _, end in times))
    if len(computed) > 1:
        metadata["slices"] = dg.MarkdownMetadataValue(_slices_table(computed))
    return metadata


def plot_metadata(entity: str, key: str, rows: DataFrame, table: DataFrame) -> dg.MetadataValue[Any]:
    """The picture of an ADS slice; `table` gives the history before it."""
    current = rows.toPandas()
    time = [name for name in ("dt", "hour") if name in table.columns]
    newest = (
        table.where(F.concat_ws(" ", *time) <= " ".join(str(current[name].iloc[0]) for name in time))
        if len(current)
        else table
    )
    history = newest.orderBy(*(F.col(name).desc() for name in time)).limit(HISTORY_SLICES).toPandas()
    return dg.MarkdownMetadataValue(slice_plot(f"{entity} {key}", current, history.iloc[::-1]))


def preview_table(rows: DataFrame) -> str:
    """The first rows as a Markdown table."""
    names = rows.columns
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += [
        "| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows.limit(PREVIEW_ROWS).collect()
    ]
    return "\n".join(lines)


def event_time_columns(rows: DataFrame) -> list[str]:
    """Columns that hold points in time."""
    return [name for name, kind in rows.dtypes if kind in _TIME_TYPES]


def _slices_table(computed: Sequence[ComputedSlice]) -> str:
    lines = ["| slice | rows | bytes | version | seconds |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {one.slice.key} | {one.rows} | {one.size_bytes} | {one.version} | {one.seconds:.2f} |" for one in computed
    ]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def figures(values: Mapping[str, Any]) -> dict[str, str]:
    """Measured figures of a check as text that the UI shows."""
    return {name: str(value) for name, value in values.items()}
