"""Temporary settings of a session."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

# Queries over many rows are worth compiling. By default a local session interprets (tidemark.spark.session).
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
# With this many rows, reading and writing takes longer than compiling the query.
_COMPILED_ROWS = 20_000


def worth_compiling(rows: int) -> Mapping[str, str]:
    """Settings for queries over `rows` rows."""
    return COMPILED if rows >= _COMPILED_ROWS else {}


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set these settings of the session in the block, and restore them afterwards.

    The session must be the thread's own.
    """
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, own in before.items():
            if own is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, own)
