"""Schemas may grow: what a write may add to a table's columns, and what it must not change."""

from pyspark.sql.types import DataType, StructField, StructType

from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation


def new_columns(path: TableLocation, table: StructType, incoming: StructType) -> list[str]:
    """The columns that `table` lacks. Raises SchemaChangedError unless `incoming` has all of its, of the same types."""
    new = {field.name: field.dataType for field in incoming}
    lost = [field.name for field in table if field.name not in new]
    changed = [_change(field, new[field.name].simpleString()) for field in table if _differs(field, new)]
    if lost or changed:
        raise SchemaChangedError.of(path, lost, changed)
    return [name for name in new if name not in table.names]


def _differs(field: StructField, new: dict[str, DataType]) -> bool:
    return field.name in new and new[field.name] != field.dataType


def _change(field: StructField, incoming: str) -> str:
    return f"{field.name} {field.dataType.simpleString()} -> {incoming}"
