"""The ways to cluster a table, each from the same unclustered files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.timing import cpu_seconds
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.quoting.spark import path_table
from tidemark.spark.temporary_settings import settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

KEYS = ("key1", "key2")
_NOISE = "spark.databricks.io.skipping.mdc.addNoise"
_MOST, _LEAST = "spark.databricks.delta.optimize.maxFileSize", "spark.databricks.delta.optimize.minFileSize"


@dataclass(frozen=True)
class Build:
    """One build: seconds by the clock and of processors."""

    wall: float
    cpu: float


def ours(spark: SparkSession, path: Path, target: int) -> None:
    cluster_table(spark, path, Clustering.by(*KEYS, target_bytes=target))


def zorder(spark: SparkSession, path: Path, target: int) -> None:
    with settings(spark, {_MOST: str(target), _LEAST: str(target)}):
        spark.sql(f"OPTIMIZE {path_table(path)} ZORDER BY ({', '.join(KEYS)})")


def zorder_without_noise(spark: SparkSession, path: Path, target: int) -> None:
    with settings(spark, {_NOISE: "false"}):
        zorder(spark, path, target)


def liquid(spark: SparkSession, path: Path, target: int) -> None:
    with settings(spark, {_MOST: str(target), _LEAST: str(target)}):
        spark.sql(f"OPTIMIZE {path_table(path)}")


WAYS: dict[str, Callable[[SparkSession, Path, int], None]] = {
    "ours": ours,
    "zorder": zorder,
    "zorder_without_noise": zorder_without_noise,
    "liquid": liquid,
}


def built(spark: SparkSession, way: str, path: Path, target: int, group: str) -> Build:
    """Build in place, as jobs of `group`."""
    spark.sparkContext.setJobGroup(group, way)
    cpu, begun = cpu_seconds(), time.perf_counter()
    WAYS[way](spark, path, target)
    return Build(time.perf_counter() - begun, cpu_seconds() - cpu)
