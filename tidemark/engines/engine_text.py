"""The code by which another engine reads a slice or tag; run unchanged, it returns the rows that Spark returns.

Each engine has a function from the location to the code. The code of an engine that tests cannot run says so in its
first line.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from deltalake.schema import ArrayType, MapType, PrimitiveType, StructType

from tidemark.delta.rows_without_spark import equal_to
from tidemark.engines.errors import EngineCannotReadError
from tidemark.engines.table_uri import known_everywhere
from tidemark.quoting import clickhouse, datafusion, spark
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from deltalake.schema import DataType

    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.engines.slice_location import SliceLocation

_ON_DISK: Final = "file"
_ALL: Final = "SELECT * FROM"
_NOT_RUN: Final = "-- by {}'s documentation: not run by Tidemark's tests"


class EngineText(NamedTuple):
    """`is_tested` says whether a test runs such code and compares its rows with Spark's."""

    language: Literal["python", "sql"]
    is_tested: bool
    text: str


def engine_text(engine: str, location: SliceLocation) -> EngineText:
    """The code for the named engine. Raises EngineCannotReadError."""
    language, places, is_tested, write = _ENGINES[engine]
    scheme = _scheme(location)
    if scheme not in places:
        raise EngineCannotReadError.place(engine, scheme, places)
    return EngineText(language, is_tested, write(location))


def _delta(location: SliceLocation) -> str:
    query = f"{_ALL} t{_where(location)}"
    return (
        "from deltalake import DeltaTable, QueryBuilder\n\n"
        f"table = DeltaTable({_python(_uri(location))}, version={location.version})\n"
        "# Spark writes times as INT96: as microseconds all of them are in range\n"
        'reader = QueryBuilder({"datafusion.execution.parquet.coerce_int96": "us"}).register("t", table)\n'
        f"rows = reader.execute({_python(query)}).read_all()\n"
    )


def _duckdb(location: SliceLocation) -> str:
    name = datafusion.quote(location.entity)
    place = datafusion.sql_literal(_uri(location))
    return (
        "INSTALL delta;\nLOAD delta;\n"
        f"ATTACH {place} AS {name} (TYPE delta, VERSION {location.version});\n"
        f"{_ALL} {name}{_where(location)};\n"
    )


def _polars(location: SliceLocation) -> str:
    equal = [f"pl.col({_python(name)}) == {_polars_literal(value)}" for name, value in location.partition.items()]
    those = f".filter({', '.join(equal)})" if equal else ""
    return (
        "import polars as pl\n\n"
        f"table = pl.scan_delta({_python(_uri(location))}, version={location.version})\n"
        f"rows = table{those}.collect()\n"
    )


def _polars_literal(value: PartitionValue) -> str:
    return f"pl.date({value.year}, {value.month}, {value.day})" if isinstance(value, date) else _python(value)


def _python(value: str | int) -> str:
    """A Python literal; JSON writes strings and integers in the same way."""
    return json_text(value, ensure_ascii=False)


def _clickhouse(location: SliceLocation) -> str:
    function = "deltaLakeLocal" if _scheme(location) == _ON_DISK else "deltaLake"
    equal = (
        f"{clickhouse.quote(name)} = {clickhouse.sql_literal(value)}" for name, value in location.partition.items()
    )
    return (
        f"{_ALL} {function}({clickhouse.sql_literal(_uri(location))}){_conditions(equal)}\n"
        f"SETTINGS delta_lake_snapshot_version = {location.version};\n"
    )


def _spark(location: SliceLocation) -> str:
    equal = (f"{spark.quote(name)} = {spark.sql_literal(value)}" for name, value in location.partition.items())
    those = _conditions(equal)
    return f"{_ALL} {spark.path_table(location.table)} VERSION AS OF {location.version}{those};\n"


def _trino(location: SliceLocation) -> str:
    name = datafusion.quote(location.entity)
    place = datafusion.sql_literal(f"file://{location.table}" if _scheme(location) == _ON_DISK else _uri(location))
    return (
        f"{_NOT_RUN.format('Trino')}\n"
        "-- a catalog named delta, of the connector delta_lake, with delta.register-table-procedure.enabled=true\n"
        "CALL delta.system.register_table(\n"
        f"    schema_name => 'default', table_name => {datafusion.sql_literal(location.entity)},\n"
        f"    table_location => {place});\n"
        f"{_ALL} delta.default.{name} FOR VERSION AS OF {location.version}{_where(location)};\n"
    )


def _flink(location: SliceLocation) -> str:
    name = spark.quote(location.entity)
    columns = ",\n".join(
        f"    {spark.quote(field.name)} {type_name('flink', field.name, field.type)}"
        for field in location.schema.fields
    )
    partitioned = f" PARTITIONED BY ({', '.join(map(spark.quote, location.partition))})" if location.partition else ""
    place = datafusion.sql_literal(str(location.table))
    equal = (f"{spark.quote(column)} = {datafusion.sql_literal(value)}" for column, value in location.partition.items())
    return (
        f"{_NOT_RUN.format('the Flink/Delta connector')}\n"
        "CREATE CATALOG lake WITH ('type' = 'delta-catalog', 'catalog-type' = 'in-memory');\n"
        f"USE CATALOG lake;\nCREATE TABLE {name} (\n{columns}\n){partitioned}\n"
        f"WITH ('connector' = 'delta', 'table-path' = {place});\n"
        f"{_ALL} {name} /*+ OPTIONS('mode' = 'batch', 'versionAsOf' = '{location.version}') */"
        f"{_conditions(equal)};\n"
    )


def _where(location: SliceLocation) -> str:
    """The WHERE clause in the SQL that DataFusion, DuckDB and Trino share."""
    return _conditions([equal_to(location.partition)] if location.partition else [])


def _conditions(equal: Iterable[str]) -> str:
    together = " AND ".join(equal)
    return f" WHERE {together}" if together else ""


def _scheme(location: SliceLocation) -> str:
    return _ON_DISK if isinstance(location.table, Path) else str(location.table).partition("://")[0]


def _uri(location: SliceLocation) -> str:
    return known_everywhere(str(location.table))


_EVERYWHERE: Final = frozenset({_ON_DISK, "s3a", "gs", "abfss", "hdfs"})
_OBJECTS: Final = _EVERYWHERE - {"hdfs"}
_ENGINES: Final[Mapping[str, tuple[Literal["python", "sql"], frozenset[str], bool, Callable[[SliceLocation], str]]]] = {
    "delta": ("python", _EVERYWHERE, True, _delta),
    "duckdb": ("sql", _OBJECTS, True, _duckdb),
    "polars": ("python", _OBJECTS, True, _polars),
    "clickhouse": ("sql", frozenset({_ON_DISK, "s3a"}), True, _clickhouse),
    "spark": ("sql", _EVERYWHERE, True, _spark),
    "trino": ("sql", _EVERYWHERE, False, _trino),
    "flink": ("sql", _EVERYWHERE, False, _flink),
}


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
