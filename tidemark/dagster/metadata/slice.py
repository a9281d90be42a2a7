"""What a materialization tells the Dagster UI: figures, a preview table and, for ADS, a picture."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
from deltalake import DeltaTable

from tidemark.dagster.metadata.plot import slice_plot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from tidemark.compute.slice_computer import ComputedSlice

HISTORY_SLICES: Final = 48


def slice_metadata(computed: Sequence[ComputedSlice]) -> dict[str, dg.MetadataValue[Any]]:
    """Metadata of one run over one or several slices: totals, and a row a slice where there are several."""
    last = computed[-1]
    metadata: dict[str, dg.MetadataValue[Any]] = {
        "dagster/row_count": dg.IntMetadataValue(sum(result.metrics.rows for result in computed)),
        "bytes": dg.IntMetadataValue(sum(result.metrics.size_bytes for result in computed)),
        "delta_version": dg.IntMetadataValue(last.metrics.version),
        "seconds": dg.FloatMetadataValue(round(sum(result.seconds for result in computed), 3)),
        "preview": dg.MarkdownMetadataValue(preview_table(last.sample)),
        "table": dg.PathMetadataValue(str(last.path)),
    }
    times = [result.audit.event_times for result in computed if result.audit.event_times]
    if times:
        metadata["min_event_time"] = dg.TextMetadataValue(min(first for first, _ in times))
        metadata["max_event_time"] = dg.TextMetadataValue(max(end for _, end in times))
    if len(computed) > 1:
        metadata["slices"] = dg.MarkdownMetadataValue(_slices_table(computed))
    return metadata


def plot_metadata(title: str, path: Path, partition: Mapping[str, object]) -> dg.MetadataValue[Any]:
    """The picture of an ADS slice and, where it is one row, of those before it. Read by delta-rs: no Spark job."""
    columns = list(partition)
    now = tuple(str(value) for value in partition.values())
    table = DeltaTable(str(path))
    stored = sorted({tuple(values[name] for name in columns) for values in table.partitions()})
    times = [time for time in stored if time <= now][-HISTORY_SLICES:]
    days = sorted({date.fromisoformat(time[0]) for time in times})
    history = table.to_pandas(filters=[("dt", "in", days)])
    spelled = history[columns].astype(str).apply(tuple, axis=1)
    current = history[spelled == now].drop(columns=columns)
    return dg.MarkdownMetadataValue(slice_plot(title, current, history[spelled.isin(times)].sort_values(columns)))


def preview_table(rows: pa.Table) -> str:
    """Rows as a Markdown table."""
    columns = rows.column_names
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in columns) + " |" for row in rows.to_pylist()]
    return "\n".join(lines)


def _slices_table(computed: Sequence[ComputedSlice]) -> str:
    lines = ["| slice | rows | bytes | version | seconds |", "| --- | ---: | ---: | ---: | ---: |"]
    for result in computed:
        figures_of = (
            result.slice.key,
            result.metrics.rows,
            result.metrics.size_bytes,
            result.metrics.version,
            f"{result.seconds:.2f}",
        )
        lines.append(f"| {' | '.join(str(value) for value in figures_of)} |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def figures(values: Mapping[str, Any]) -> dict[str, str]:
    """Measured figures of a check as text that the UI shows."""
    return {name: str(value) for name, value in values.items()}
