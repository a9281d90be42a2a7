"""New rows beside a clustered table: what clustering them alone costs, and what filters read before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.cluster.filters import read_by
from benchmarks.merge.table import copied
from benchmarks.timing import Timer
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.cluster.filters import Filter


@dataclass(frozen=True)
class Appended:
    """The incremental passes, and files that a filter reads on average before and after them."""

    timer: Timer
    read: tuple[float, float]


def appended(
    spark: SparkSession,
    clustered: Path,
    new: DataFrame,
    clustering: Clustering,
    rounds: int,
    filters: Sequence[Filter],
) -> Appended:
    """Each round on a copy of its own; one more comes first, to warm up."""
    timer, read = Timer(1), (0.0, 0.0)
    for _ in range(rounds + 1):
        path = copied(clustered, clustered.with_name("appended"))
        new.write.format("delta").mode("append").save(str(path))
        before = _files(path, filters)
        timer.run(lambda path=path: cluster_table(spark, path, clustering, only="new"))  # type: ignore[misc]
        read = before, _files(path, filters)
    return Appended(timer, read)


def _files(path: Path, filters: Sequence[Filter]) -> float:
    return round(sum(files for files, _ in read_by(path, filters)) / len(filters), 2)
