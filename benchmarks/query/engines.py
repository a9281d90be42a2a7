"""The same question in three engines, each with its tables opened once: what is timed is the query alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from benchmarks.query.table import KINDS, sql_of
from benchmarks.timing import Timer
from tidemark.quoting.spark import path_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from benchmarks.cluster.filters import Filter

# A condition in SQL -> (rows, sum of minutes).
Ask = Callable[[str], tuple[int, int]]
_QUESTION = "SELECT count(*) AS n, coalesce(sum(minutes), 0) AS minutes FROM {} WHERE {}"


@dataclass(frozen=True)
class QueryTables:
    """The same rows twice."""

    unclustered: Path
    clustered: Path


def asked_of(spark: SparkSession, path: Path) -> dict[str, Ask]:
    """How each engine answers for the table at `path`."""
    connection = duckdb.connect()
    connection.register("t", DeltaTable(str(path)).to_pyarrow_dataset())
    session = QueryBuilder().register("t", DeltaTable(str(path)))
    return {
        "spark": lambda where: _answer(spark.sql(_QUESTION.format(path_table(path), where)).toArrow()),
        "duckdb": lambda where: _answer(connection.sql(_QUESTION.format("t", where)).to_arrow_table()),
        "delta_rs": lambda where: _answer(pa.table(session.execute(_QUESTION.format("t", where)).read_all())),
    }


def _answer(answer: pa.Table) -> tuple[int, int]:
    row: dict[str, Any] = answer.to_pylist()[0]
    return int(row["n"]), int(row["minutes"])


def seconds_by_engine(
    spark: SparkSession, tables: QueryTables, filters: Sequence[Filter], warm: int
) -> dict[str, dict[str, tuple[float, float]]]:
    """Engine -> kind of filter -> median seconds (unclustered, clustered), the first `warm` of each kind left out.

    Raises AssertionError where two answers to one filter differ.
    """
    asks = asked_of(spark, tables.unclustered), asked_of(spark, tables.clustered)
    timers = {(engine, kind): (Timer(warm), Timer(warm)) for engine in asks[0] for kind in KINDS}
    for number, wanted in enumerate(filters):
        answers = set()
        for engine in asks[0]:
            for side in (0, 1) if number % 2 else (1, 0):
                answers.add(timers[engine, wanted.kind][side].run(lambda: asks[side][engine](sql_of(wanted))))  # noqa: B023 - run at once
        if len(answers) != 1:
            raise AssertionError(f"{sql_of(wanted)}: {answers}")
    return {
        engine: {
            kind: (round(before.seconds, 4), round(after.seconds, 4))
            for (name, kind), (before, after) in timers.items()
            if name == engine
        }
        for engine in asks[0]
    }
