"""What an entity's SQL or function makes of the views that are there, and its columns before there is any data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tidemark.compute.business_time import sql_parameters
from tidemark.delta.delta_rs_table import read_table, table_exists
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.errors import EntityError
from tidemark.warehouse.partition_keys import first_slice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse


def query_result(session: SparkSession, warehouse: Warehouse, slice_: Slice) -> DataFrame:
    """The entity's SQL or function over the views of a session, bound to the slice's business time."""
    parameters = sql_parameters(warehouse.graph, slice_)
    function = warehouse.functions.get(slice_.entity)
    if function is None:
        return session.sql(warehouse.queries[slice_.entity], args=dict(parameters))
    result: DataFrame = function.call({name: session.table(name) for name in function.tables}, parameters)
    return result


def schema_of(session: SparkSession, warehouse: Warehouse, name: str) -> StructType:
    """Columns of an entity's table, also before its first write: then from what computes it over empty inputs.

    Raises EntityError for a captured table before its first capture.
    """
    path = warehouse.table_path(name)
    if table_exists(path):
        return _with_time(warehouse, name, read_table(session, path)).schema
    if name not in warehouse.queries and name not in warehouse.functions:
        raise EntityError("its columns are known after its first capture", found=name)
    inner = session.newSession()
    for upstream in dict.fromkeys(dependency.entity for dependency in warehouse.entities[name].depends_on):
        empty(inner, warehouse, upstream).createOrReplaceTempView(upstream)
    return _with_time(warehouse, name, query_result(inner, warehouse, first_slice(warehouse.graph, name))).schema


def empty(session: SparkSession, warehouse: Warehouse, name: str) -> DataFrame:
    """No rows of an entity's table. Raises EntityError."""
    return session.createDataFrame([], schema_of(session, warehouse, name))


def _with_time(warehouse: Warehouse, name: str, table: DataFrame) -> DataFrame:
    times = partition_columns(warehouse.entities[name].period)
    missing = [column for column in times if column not in table.columns]
    return table.withColumns({c: F.lit(None).cast("date" if c == "dt" else "string") for c in missing})
