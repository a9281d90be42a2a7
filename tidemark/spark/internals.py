"""Classes of Spark's JVM by their full names."""

import functools
from typing import Any

from pyspark.sql import SparkSession


class Jvm:
    """`jvm("org.apache.spark.sql.delta.DeltaLog")` is that class: its static methods, and its constructor when called.

    Written `jvm.org.apache...`, py4j would search all jars for a class `org`, then for `org.apache`, and so on, every
    time: milliseconds of CPU a name.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._view: Any = spark._jvm  # noqa: SLF001 - py4j's entrance has no public name

    def __call__(self, name: str) -> Any:
        return _found(self._view, name)

    def scala_object(self, name: str) -> Any:
        """The one instance of a Scala object."""
        return getattr(self(f"{name}$"), "MODULE$")


@functools.lru_cache(maxsize=256)
def _found(view: Any, name: str) -> Any:
    return getattr(view, name)
