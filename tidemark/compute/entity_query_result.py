"""The result of an entity's SQL or function over its views, and its columns before there is data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql.types import DateType, IntegerType, NullType, StringType, StructField, StructType

from tidemark.compute.business_time import slice_column_types, sql_parameters
from tidemark.delta.delta_rs_table import read_table, table_exists
from tidemark.errors import EntityError
from tidemark.warehouse.dagster_partition_keys import first_slice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse


_TYPES: Final = {"date": DateType(), "string": StringType(), "int": IntegerType()}


def query_result(session: SparkSession, warehouse: Warehouse, slice_: Slice) -> DataFrame:
    """The result of the entity's SQL or function over the views of a session, for the slice's business time."""
    parameters = sql_parameters(warehouse.graph, slice_)
    function = warehouse.functions.get(slice_.entity)
    if function is None:
        return session.sql(warehouse.queries[slice_.entity], args=dict(parameters))
    result: DataFrame = function.call({name: session.table(name) for name in function.tables}, parameters)
    return result


def schema_of(session: SparkSession, warehouse: Warehouse, name: str) -> StructType:
    """The columns of an entity's table. Before the first write they come from its code over empty inputs.

    Raises EntityError for a captured table before its first capture.
    """
    path = warehouse.table_path(name)
    if table_exists(path):
        return _with_time(warehouse, name, read_table(session, path)).schema
    if warehouse.is_external(name) and has_columns(warehouse, name):
        return _untyped(warehouse, name)
    if name not in warehouse.queries and name not in warehouse.functions:
        raise EntityError("its columns are not known before its table is written", found=name)
    inner, upstreams = session.newSession(), _read_by(warehouse, name)
    for upstream in upstreams:
        if upstream != name:
            empty(inner, warehouse, upstream).createOrReplaceTempView(upstream)
    if name not in upstreams:
        return _result_schema(inner, warehouse, name)
    inner.createDataFrame([], _untyped(warehouse, name)).createOrReplaceTempView(name)
    inner.createDataFrame([], _result_schema(inner, warehouse, name)).createOrReplaceTempView(name)
    return _result_schema(inner, warehouse, name)


def _result_schema(session: SparkSession, warehouse: Warehouse, name: str) -> StructType:
    return _with_time(warehouse, name, query_result(session, warehouse, first_slice(warehouse.graph, name))).schema


def _untyped(warehouse: Warehouse, name: str) -> StructType:
    """The columns of a table that does not exist yet, with NULL's type.

    Other inputs of a query give them their types.
    """
    columns = warehouse.columns.columns(name)
    if not columns or "*" in columns:
        raise EntityError(
            "its columns are not known before its first slice",
            found=name,
            hint="name the columns of its query: SELECT a, b instead of SELECT *",
        )
    times = slice_column_types(warehouse.entities[name])
    fields = [StructField(column, NullType()) for column in columns if column not in times]
    return StructType([*fields, *(StructField(c, _TYPES[type_]) for c, type_ in times.items())])


def _read_by(warehouse: Warehouse, name: str) -> list[str]:
    """The upstreams with columns."""
    upstreams = dict.fromkeys(
        dependency.entity for state in warehouse.entities[name].states for dependency in state.depends_on
    )
    return [
        upstream
        for upstream in upstreams
        if upstream in warehouse.entities
        and not warehouse.entities[upstream].is_project
        and not (warehouse.is_external(upstream) and not has_columns(warehouse, upstream))
    ]


def has_columns(warehouse: Warehouse, name: str) -> bool:
    """Whether external data has a table here, or a query reads its columns by name."""
    return table_exists(warehouse.table_path(name)) or bool(warehouse.columns.columns(name))


def empty(session: SparkSession, warehouse: Warehouse, name: str) -> DataFrame:
    """A frame with the columns of an entity's table and no rows. Raises EntityError."""
    return session.createDataFrame([], schema_of(session, warehouse, name))


def _with_time(warehouse: Warehouse, name: str, table: DataFrame) -> DataFrame:
    times = slice_column_types(warehouse.entities[name])
    missing = {column: type_ for column, type_ in times.items() if column not in table.columns}
    return table.withColumns({column: F.lit(None).cast(type_) for column, type_ in missing.items()})
