"""Column lineage from the SQL parse, against the plan that Spark makes of every query of the main job."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import DateType, StringType, StructField, StructType

from tests.compute.analyzed_plan import column_sources, tables_read
from tidemark.compute.function_dry_run import empty_input
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

PARAMETERS = {
    "biz_date": date(2026, 3, 30),
    "biz_hour": "03",
    "period_start": datetime(2026, 3, 30, tzinfo=UTC),
    "period_end": datetime(2026, 3, 31, tzinfo=UTC),
}


def _with_time(warehouse: Warehouse, name: str, schema: StructType) -> StructType:
    columns = partition_columns(warehouse.entities[name].period)
    return StructType(
        [*schema.fields, *(StructField(column, DateType() if column == "dt" else StringType()) for column in columns)]
    )


def _captured_schema(warehouse: Warehouse, name: str) -> StructType:
    """A captured table, as far as queries read it: Spark casts the texts."""
    read = {
        column.rpartition(".")[2]
        for entity in warehouse.columns.entities.values()
        for column in (*entity.indirect, *(source for sources in entity.direct.values() for source in sources))
        if column.rpartition(".")[0] == name
    }
    return StructType([StructField(column, StringType()) for column in sorted(read - {"dt", "hour", "minute"})])


def _analyze(spark: SparkSession, warehouse: Warehouse) -> dict[str, DataFrame]:
    """Every query over empty inputs, upstream before downstream."""
    session = spark.newSession()
    inputs: dict[str, DataFrame] = {}
    for name in warehouse.graph.topological():
        if name in warehouse.queries:
            inputs[name] = session.sql(warehouse.queries[name], args=PARAMETERS)
        elif name.startswith("olap_"):
            continue
        schema = inputs[name].schema if name in inputs else _captured_schema(warehouse, name)
        empty_input(session, name, _with_time(warehouse, name, schema)).createOrReplaceTempView(name)
    return inputs


def test_lineage_of_every_query_equals_sparks(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = load_warehouse(Settings.at(tmp_path / "data"))
    frames = _analyze(spark, warehouse)
    assert len(frames) == 23
    for name, frame in frames.items():
        ours = warehouse.columns.entities[name]
        theirs = {
            column: sorted(f"{table}.{of}" for table, of in sources)
            for column, sources in column_sources(frame).items()
        }
        assert {column: list(sources) for column, sources in ours.direct.items()} == theirs, name
        read = {source.rpartition(".")[0] for source in (*ours.indirect, *(s for d in ours.direct.values() for s in d))}
        assert read == set(tables_read(frame)), name
