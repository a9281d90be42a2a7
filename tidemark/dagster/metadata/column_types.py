"""The columns of a slice with their types in Spark's words, for Dagster's table schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg
import pyarrow.types as kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

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
