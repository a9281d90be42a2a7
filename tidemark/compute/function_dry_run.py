"""Dry runs of a Python function: Spark's analyzed plans of its result over empty inputs, for each slice.

Inputs have the columns of their tables and no rows. Their columns have names that can be found in the plan.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from tidemark.compute.entity_query_result import query_result, schema_of
from tidemark.compute.slice_clock import TIME_ZONE
from tidemark.dependency_model.lineage.spark_plan.plan_tree import MARK
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time.spark_time_zone import spark_zone
from tidemark.errors import EntityError
from tidemark.spark.internals import java_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.warehouse.warehouse import Warehouse


_LOOKS: Final = "it reads rows (collect, count, toPandas, ...) before it returns, so its plan does not show all inputs"


def analyzed_plans(session: SparkSession, warehouse: Warehouse, name: str, ordinals: Iterable[int]) -> dict[int, str]:
    """The plans of an entity's slices as JSON, by slice number. Reads no data.

    Raises EntityError if an input's columns are not known yet, or if the function reads rows before it returns. Also
    raises the function's own errors.
    """
    entity = warehouse.entities[name]
    function = warehouse.functions[name]
    if entity.period is None:
        return {}
    inner = session.newSession()
    inner.conf.set(TIME_ZONE, spark_zone(entity.time_zone))
    for table in function.tables:
        empty_input(inner, table, schema_of(session, warehouse, table)).createOrReplaceTempView(table)
    grid = entity.calendar.grid(entity.period)
    plans = {}
    with _noted_jobs(inner) as has_run:
        for ordinal in ordinals:
            plans[ordinal] = _plan(query_result(inner, warehouse, Slice(name, grid.key(ordinal))))
            if has_run():  # such reads are not in any plan
                raise EntityError(_LOOKS, where=function.where)
    return plans


def empty_input(session: SparkSession, name: str, schema: StructType) -> DataFrame:
    """An empty frame. Its columns can be recognized in the plan of any result that is computed from it."""
    marked = session.createDataFrame([], schema).toDF(*(f"{name}{MARK}{field.name}" for field in schema.fields))
    return marked.toDF(*schema.names)


def _plan(frame: DataFrame) -> str:
    return str(java_frame(frame).queryExecution().analyzed().toJSON())


@contextmanager
def _noted_jobs(session: SparkSession) -> Iterator[Callable[[], bool]]:
    """Whether a Spark job ran inside the block."""
    context, group = session.sparkContext, f"dry run {uuid4()}"
    context.setJobGroup(group, "dry run of an entity's function")
    try:
        yield lambda: bool(context.statusTracker().getJobIdsForGroup(group))
    finally:
        for key in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(key, None)  # type: ignore[arg-type]
