"""The scans of a query's physical plan: their location, and filters that can skip files."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pyspark.sql import DataFrame

from tidemark.spark.internals import java_frame


class FileScan(NamedTuple):
    """Spark's text of a scan: `location` as `Name(1 paths)[file:/...]`, `pushed_filters` as `[GreaterThan(id,3)]`."""

    location: str
    pushed_filters: str


def file_scans(frame: DataFrame) -> list[FileScan]:
    """The scans of a query, which is planned and does not run."""
    plan = java_frame(frame).queryExecution().sparkPlan()
    return [scan for leaf in _leaves(plan) if (scan := _scan(leaf)) is not None]


def _leaves(plan: Any) -> Iterator[Any]:
    leaves = plan.collectLeaves()
    return (leaves.apply(at) for at in range(int(leaves.size())))


def _scan(leaf: Any) -> FileScan | None:
    metadata = leaf.metadata() if "metadata" in dir(leaf) else None
    if metadata is None or not metadata.contains("PushedFilters"):
        return None
    return FileScan(str(metadata.apply("Location")), str(metadata.apply("PushedFilters")))
