"""The columns that a table can be clustered by, and the features that rule out clustering. Both are checked first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from tidemark.delta.clustering.errors import ClusterColumnError, ClusterTableError
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation

_NUMBERS = (ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DecimalType)
_KINDS = (*_NUMBERS, DateType, TimestampType, TimestampNTZType, StringType)
_PHYSICAL = "delta.columnMapping.physicalName"
MOST_COLUMNS = 4
_DEFAULT_INDEXED = 32


@dataclass(frozen=True)
class ClusterColumn:
    """A column to cluster by: its name in the table and in files, its type, and the share of filters on it."""

    name: str
    physical: str
    kind: DataType
    weight: float

    @property
    def arrow_type(self) -> pa.DataType:
        return to_arrow_type(self.kind, timezone="UTC")


def cluster_columns(
    path: TableLocation,
    schema: StructType,
    partition_columns: Sequence[str],
    properties: Mapping[str, str],
    weights: Mapping[str, float],
) -> tuple[ClusterColumn, ...]:
    """The columns of `weights`. Raises ClusterColumnError."""
    if not 1 <= len(weights) <= MOST_COLUMNS or min(weights.values()) <= 0:
        raise ClusterColumnError.number(path, list(weights))
    fields = {field.name.lower(): field for field in schema}
    chosen = []
    for name, weight in weights.items():
        field = fields.get(name.lower())
        if field is None:
            raise ClusterColumnError.unknown(path, name, schema.names)
        if field.name in partition_columns:
            raise ClusterColumnError.a_partition(path, field.name)
        if not is_supported(field.dataType):
            raise ClusterColumnError.of_type(path, field.name, field.dataType.simpleString())
        if field.name not in columns_with_bounds(schema, partition_columns, properties):
            raise ClusterColumnError.without_bounds(path, field.name, _statistics_properties(properties))
        chosen.append(ClusterColumn(field.name, physical_name(field), field.dataType, weight))
    if len({column.name for column in chosen}) < len(chosen):
        raise ClusterColumnError.number(path, list(weights))
    return tuple(chosen)


def is_supported(kind: DataType) -> bool:
    """Whether the log keeps bounds of the type, in the type's own order."""
    return isinstance(kind, _KINDS) and not (isinstance(kind, StringType) and kind != StringType())


def physical_name(field: StructField) -> str:
    """The column's name in files, which differs under column mapping."""
    return str((field.metadata or {}).get(_PHYSICAL, field.name))


def columns_with_bounds(
    schema: StructType, partition_columns: Sequence[str], properties: Mapping[str, str]
) -> frozenset[str]:
    """The top-level columns whose bounds the log keeps."""
    named = properties.get("delta.dataSkippingStatsColumns")
    if named is not None:
        return frozenset(name.strip().strip("`") for name in named.split(","))
    limit = int(properties.get("delta.dataSkippingNumIndexedCols", _DEFAULT_INDEXED))
    names: list[str] = []
    taken = 0
    for field in schema:
        if 0 <= limit <= taken:
            break
        if field.name not in partition_columns:
            names.append(field.name)
            taken += _leaf_columns(field.dataType)
    return frozenset(names)


def _leaf_columns(kind: DataType) -> int:
    return sum(_leaf_columns(field.dataType) for field in kind) if isinstance(kind, StructType) else 1


def _statistics_properties(properties: Mapping[str, str]) -> str:
    said = {name: value for name, value in properties.items() if name.startswith("delta.dataSkipping")}
    return json_text(said) if said else f"bounds of the first {_DEFAULT_INDEXED} columns"


_REFUSED = {
    "delta.enableRowTracking": ("row tracking", "OPTIMIZE keeps row ids"),
    "delta.enableIcebergCompatV1": ("Iceberg compatibility", "OPTIMIZE writes the required files"),
    "delta.enableIcebergCompatV2": ("Iceberg compatibility", "OPTIMIZE writes the required files"),
}


def require_clusterable(path: TableLocation, properties: Mapping[str, str], features: frozenset[str]) -> None:
    """Raise ClusterTableError if a rewrite would lose metadata of the table's rows or files."""
    for name, (feature, hint) in _REFUSED.items():
        if properties.get(name) == "true":
            raise ClusterTableError.with_feature(path, feature, hint)
    if "clustering" in features:
        hint = "OPTIMIZE clusters it by its own columns; ALTER TABLE ... CLUSTER BY NONE switches that off"
        raise ClusterTableError.with_feature(path, "liquid clustering", hint)
