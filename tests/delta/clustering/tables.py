"""Small tables to cluster, and what is asked of them before and after."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemark.delta.delta_rs_table import read_table
from tidemark.quoting.spark import path_table, text_literal


def create_table(
    spark: SparkSession, path: Path, rows: DataFrame, files: int = 6, partition: str | None = None, **properties: str
) -> Path:
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


def content(spark: SparkSession, path: Path, version: int | None = None) -> list[str]:
    """Every row as text, sorted."""
    return sorted(map(str, read_table(spark, path, version).collect()))


def actions(path: Path, version: int) -> list[dict[str, Any]]:
    text = (path / "_delta_log" / f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def added_files(path: Path, version: int) -> list[Mapping[str, Any]]:
    return [
        {**action["add"], "stats": json.loads(action["add"]["stats"])}
        for action in actions(path, version)
        if "add" in action
    ]


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*.parquet") if "_delta_log" not in file.parts)
