"""A slice's metadata for Dagster's pages: figures, columns, a preview and, for ADS, a drawing."""

from __future__ import annotations

import decimal
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import pyarrow.types as kinds

from tidemark.dagster.metadata.ads_slice_chart import SHOWN_AT_ONCE, Series, bars, lines
from tidemark.dagster.metadata.number import as_number
from tidemark.dagster.metadata.profile import profile_metadata
from tidemark.delta.open_table import open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from deltalake import DeltaTable

    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.system.table_location import TableLocation

HISTORY_SLICES: Final = 48
SHOWN_FILES: Final = 20

Metadata = dict[str, dg.MetadataValue[Any]]


def slice_metadata(computed: ComputedSlice) -> Metadata:
    """The metadata of one slice. Each number is a value of its own, which Dagster plots over the partitions."""
    metadata: Metadata = {
        "dagster/row_count": dg.IntMetadataValue(computed.metrics.rows),
        "bytes": dg.IntMetadataValue(computed.metrics.size_bytes),
        "delta_version": dg.IntMetadataValue(computed.metrics.version),
        "seconds": dg.FloatMetadataValue(round(computed.seconds, 3)),
        "table": dg.PathMetadataValue(str(computed.path)),
    }
    if computed.sample is not None:
        metadata["preview"] = dg.MarkdownMetadataValue(preview_table(computed.sample))
        metadata["dagster/column_schema"] = dg.MetadataValue.table_schema(table_schema(computed.sample.schema))
    if computed.audit.figures is not None:
        metadata.update(profile_metadata(computed.audit.figures))
    if computed.audit.event_times:
        first, last = computed.audit.event_times
        metadata["min_event_time"] = dg.TextMetadataValue(first)
        metadata["max_event_time"] = dg.TextMetadataValue(last)
    return metadata


def files_aside(computed: ComputedSlice) -> Metadata:
    """The refused files, which stay in the table's folder, outside all versions, until a vacuum."""
    if not computed.aside:
        return {}
    return {
        "refused_rows": dg.IntMetadataValue(computed.metrics.rows),
        "refused_files_in": dg.PathMetadataValue(str(computed.path)),
        "refused_files": dg.JsonMetadataValue(list(computed.aside[:SHOWN_FILES])),
    }


class SliceDrawings:
    """Drawings of slices of one ADS table. Its rows are read once, by delta-rs without a Spark job."""

    def __init__(self, entity: str, path: TableLocation, partitions: Sequence[Mapping[str, object]]) -> None:
        """`partitions` are those of the slices to draw. They and earlier slices are read."""
        self._entity, self._columns = entity, list(partitions[0])
        table = open_table(path)
        self._rows = table.to_pandas(filters=[(self._columns[0], "in", self._stretch(table, partitions))])
        self._times = self._rows[self._columns].astype(str).apply(tuple, axis=1)

    def metadata(self, slice_key: str, partition: Mapping[str, object]) -> Metadata:
        """The drawing of a slice. If the slice is one row, also its measures, for plots over the partitions."""
        now, title = _spelled(partition), f"{self._entity} {slice_key}"
        current = self._rows[self._times == now].drop(columns=self._columns)
        measures = _measures(current)
        if len(current) != 1:
            return {"plot": dg.MarkdownMetadataValue(_bars(title, current, measures))}
        history = self._rows[self._times.map(lambda time: time <= now)].sort_values(self._columns).tail(HISTORY_SLICES)
        drawn = [Series(name, history[name].astype(float).fillna(0.0).tolist()) for name in measures]
        first = " ".join(map(str, history[self._columns].iloc[0]))
        known = current[measures].iloc[0].dropna()
        values: Metadata = {str(name): as_number(float(value)) for name, value in known.items()}
        return {"plot": dg.MarkdownMetadataValue(lines(title, first, drawn)), **values}

    def _stretch(self, table: DeltaTable, partitions: Sequence[Mapping[str, object]]) -> list[object]:
        """The values of the first column, with its type, for these slices and the slices before them."""
        first, last = min(map(_spelled, partitions)), max(map(_spelled, partitions))
        stored = sorted({tuple(values[name] for name in self._columns) for values in table.partitions()})
        before = [time for time in stored if time < first][-HISTORY_SLICES:]
        texts = sorted({time[0] for time in stored if (*before, first)[0] <= time <= last})
        return [_of_type(partitions[0][self._columns[0]], text) for text in texts]


def _of_type(like: object, text: str) -> object:
    if isinstance(like, date):
        return date.fromisoformat(text)
    return int(text) if isinstance(like, int) else text


def _spelled(partition: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(value) for value in partition.values())


def preview_table(rows: pa.Table) -> str:
    """Rows as a Markdown table: as many as Dagster shows without a button, and at least one."""
    columns = rows.column_names
    text = "\n".join(["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)])
    for number, row in enumerate(rows.to_pylist()):
        line = "\n| " + " | ".join(_cell(row[name]) for name in columns) + " |"
        if number and len(text) + len(line) >= SHOWN_AT_ONCE:
            break
        text += line
    return text


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def figures(values: Mapping[str, Any]) -> Metadata:
    """The figures of a check: numbers, which Dagster plots over the partitions, and text."""
    return {name: _figure(value) for name, value in values.items()}


def _figure(value: object) -> dg.MetadataValue[Any]:
    match value:
        case bool() | None:
            return dg.TextMetadataValue(str(value))
        case int():
            return dg.IntMetadataValue(value)
        case float() | decimal.Decimal():
            return as_number(float(value))
        case _:
            return dg.TextMetadataValue(str(value))


def _measures(rows: pd.DataFrame) -> list[str]:
    """The measures: decimals (rates and amounts), else counts. In a slice of many rows, the first column is the key."""
    names = [str(name) for name in rows.columns]
    candidates = names if len(rows) == 1 else names[1:]
    decimals = [name for name in candidates if rows[name].map(lambda v: isinstance(v, decimal.Decimal)).any()]
    return decimals or [name for name in candidates if rows[name].dtype.kind in "if"]


def _bars(title: str, rows: pd.DataFrame, measures: list[str]) -> str:
    if rows.empty or not measures:
        return bars(title, "no rows", Series("nothing", ()))
    values = rows[measures[0]].astype(float).fillna(0.0).tolist()
    return bars(title, str(rows.columns[0]), Series(measures[0], values))


_NAMES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (kinds.is_boolean, "boolean"),
    (kinds.is_int8, "tinyint"),
    (kinds.is_int16, "smallint"),
    (kinds.is_int32, "int"),
    (kinds.is_int64, "bigint"),
    (kinds.is_float32, "float"),
    (kinds.is_float64, "double"),
    (kinds.is_string, "string"),
    (kinds.is_large_string, "string"),
    (kinds.is_string_view, "string"),
    (kinds.is_binary, "binary"),
    (kinds.is_large_binary, "binary"),
    (kinds.is_binary_view, "binary"),
    (kinds.is_date, "date"),
)


def table_schema(schema: pa.Schema) -> dg.TableSchema:
    """Every column with its type, without constraints, because Delta's constraints are not read."""
    return dg.TableSchema([dg.TableColumn(field.name, type=spark_type(field.type)) for field in schema])


def spark_type(given: pa.DataType) -> str:
    """Spark's type, such as `decimal(18,2)` or `array<string>`; Arrow's word for a type that Spark does not write."""
    if kinds.is_timestamp(given):
        return "timestamp_ntz" if given.tz is None else "timestamp"
    if kinds.is_decimal(given):
        return f"decimal({given.precision},{given.scale})"
    if kinds.is_dictionary(given):
        return spark_type(given.value_type)
    return _nested(given) or next((name for is_kind, name in _NAMES if is_kind(given)), str(given))


def _nested(given: pa.DataType) -> str | None:
    if kinds.is_map(given):
        return f"map<{spark_type(given.key_type)},{spark_type(given.item_type)}>"
    if kinds.is_list(given) or kinds.is_large_list(given) or kinds.is_list_view(given):
        return f"array<{spark_type(given.value_type)}>"
    if kinds.is_struct(given):
        return f"struct<{','.join(f'{field.name}:{spark_type(field.type)}' for field in given)}>"
    return None
