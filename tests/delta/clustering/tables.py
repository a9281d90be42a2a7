"""Small tables to cluster, and what is asked of them before and after."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

from tidemark.delta.delta_rs_table import read_table
from tidemark.quoting.spark import path_table, text_literal
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

Place = TypeVar("Place", bound=TableLocation)


def create_table(
    spark: SparkSession, path: Place, rows: DataFrame, files: int = 6, partition: str | None = None, **properties: str
) -> Place:
    """A table of these rows, written in two commits."""
    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in rows.schema)
    partitioned = f"PARTITIONED BY ({partition})" if partition else ""
    said = ", ".join(
        f"{text_literal(name.replace('_', '.'))} = {text_literal(value)}" for name, value in properties.items()
    )
    spark.sql(
        f"CREATE TABLE {path_table(path)} ({columns}) USING delta {partitioned}"
        + (f" TBLPROPERTIES ({said})" if said else "")
    )
    for part in rows.randomSplit([1.0, 1.0], seed=1):
        part.repartition(max(1, files // 2)).write.format("delta").mode("append").save(str(path))
    return path


def content(spark: SparkSession, path: TableLocation, version: int | None = None) -> list[str]:
    """Every row as text, sorted."""
    return sorted(map(str, read_table(spark, path, version).collect()))


def actions(path: TableLocation, version: int) -> list[dict[str, Any]]:
    text = stored_files(path).read(f"_delta_log/{version:020d}.json").decode()
    return [json.loads(line) for line in text.splitlines()]


def added_files(path: TableLocation, version: int) -> list[Mapping[str, Any]]:
    return [
        {**action["add"], "stats": json.loads(action["add"]["stats"])}
        for action in actions(path, version)
        if "add" in action
    ]


def size_of(path: TableLocation) -> int:
    return sum(file.size_bytes for file in stored_files(path).walk() if file.name.endswith(".parquet"))
