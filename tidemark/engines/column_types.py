"""Names of a Delta table's column types in an engine's SQL, for engines that need the schema declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from deltalake.schema import ArrayType, MapType, PrimitiveType, StructType

from tidemark.engines.errors import EngineCannotReadError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltalake.schema import DataType

Dialect = Literal["flink"]

_NAMES: Final[Mapping[Dialect, Mapping[str, str]]] = {
    "flink": {
        "boolean": "BOOLEAN",
        "byte": "TINYINT",
        "short": "SMALLINT",
        "integer": "INT",
        "long": "BIGINT",
        "float": "FLOAT",
        "double": "DOUBLE",
        "string": "STRING",
        "binary": "BYTES",
        "date": "DATE",
        "timestamp": "TIMESTAMP_LTZ(6)",
        "timestamp_ntz": "TIMESTAMP(6)",
    },
}
_STRUCTS: Final[Mapping[Dialect, tuple[str, str]]] = {"flink": ("ROW", " ")}


def type_name(dialect: Dialect, column: str, type_: DataType) -> str:
    """The type's name in the dialect. Raises EngineCannotReadError."""
    if isinstance(type_, ArrayType):
        return f"ARRAY<{type_name(dialect, column, type_.element_type)}>"
    if isinstance(type_, MapType):
        key, value = (type_name(dialect, column, inner) for inner in (type_.key_type, type_.value_type))
        return f"MAP<{key}, {value}>"
    if isinstance(type_, StructType):
        word, between = _STRUCTS[dialect]
        fields = (f"`{field.name}`{between}{type_name(dialect, column, field.type)}" for field in type_.fields)
        return f"{word}<{', '.join(fields)}>"
    name = type_.type if isinstance(type_, PrimitiveType) else str(type_)
    if name.startswith("decimal("):
        return name.upper()
    if name not in _NAMES[dialect]:
        raise EngineCannotReadError.type(dialect, column, name)
    return _NAMES[dialect][name]
