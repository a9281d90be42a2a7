"""Offsets from Spark's analyzed plans: programs made from known offsets give them back, and none is narrower."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from tests.compute.dataframe_programs import TABLES, generate
from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.compute.function_dry_run import _plan, empty_input
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.spark_plan.function_reads import business_times, infer_reads
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.dependency_model.lineage.inferred_read import Read

pytestmark = pytest.mark.spark

DOWN = EntityOutline("down", Period.DAY, PARIS, START)
GRID = PARIS.grid(Period.DAY)
TIMES = business_times(DOWN)
FEW = TIMES[:: len(TIMES) // 9]
Compute = Callable[["Mapping[str, DataFrame]", date], "DataFrame"]


@pytest.fixture(scope="module")
def inputs(spark: SparkSession) -> dict[str, DataFrame]:
    session = spark.newSession()
    schema = session.createDataFrame([], "u int, x int, dt date").schema
    return {name: empty_input(session, name, schema) for name in (*TABLES, "d_returns")}


def reads(compute: Compute, inputs: Mapping[str, DataFrame], times: Sequence[int] = FEW) -> dict[str, Read]:
    plans = {ordinal: _plan(compute(inputs, date.fromisoformat(GRID.key(ordinal)))) for ordinal in times}
    return infer_reads(plans, "f.py:1", DOWN, SUBJECTS, QuerySession("UTC"))


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 200))])
def test_the_offsets_of_a_program_come_back(inputs: dict[str, DataFrame], seed: int) -> None:
    program = generate(seed)
    inferred = reads(program.compute, inputs)
    assert inferred.keys() == program.offsets.keys()
    for name, read in inferred.items():
        expected = mapping_between(program.offsets[name], (PARIS, Period.DAY), GRID)
        named = [mapping_between(offset, (PARIS, Period.DAY), GRID) for offset in read.offsets]
        assert read.offsets, read
        assert all(
            {up for mapping in named for up in mapping.expand(day)} == set(expected.expand(day)) for day in FEW
        ), read


def _dt(frame: DataFrame, day: date) -> DataFrame:
    return frame.where(F.col("dt") == day)


UNDECIDED: dict[str, Compute] = {
    "no condition": lambda t, _: t["d_orders"].select("u"),
    "a limit below": lambda t, day: _dt(t["d_orders"].limit(3), day),
    "a window over all days": lambda t, day: _dt(
        t["d_orders"].selectExpr("dt", "sum(x) OVER (PARTITION BY u) AS n"), day
    ),
    "a group over all days": lambda t, day: _dt(t["d_orders"].groupBy("u").agg(F.max("dt").alias("dt")), day),
    "one row of all days": lambda t, day: _dt(t["d_orders"].dropDuplicates(["u"]), day),
    "rows of a Python function": lambda t, day: _dt(
        t["d_orders"].mapInPandas(lambda batches: batches, "dt date, u int"), day
    ),
    "the clock": lambda t, _: t["d_orders"].where(F.col("dt") == F.current_date()),
    "the other side of a left join": lambda t, day: (
        t["d_orders"].select("u", "dt").join(_dt(t["d_users"], day).select("u"), "u", "left")
    ),
    "today's Python date": lambda t, _: t["d_orders"].where(F.col("dt") == date(2024, 3, 1)),
    "a condition never true": lambda t, day: t["d_orders"].where((F.col("dt") == day) & (F.col("dt") < day)),
    "a day of the week in Python": lambda t, day: (
        t["d_orders"].where(F.col("dt") == day) if day.weekday() else t["d_orders"]
    ),
}


@pytest.mark.parametrize("what", UNDECIDED)
def test_reads_that_the_plan_does_not_show_are_reported(inputs: dict[str, DataFrame], what: str) -> None:
    assert reads(UNDECIDED[what], inputs, TIMES[:9])["d_orders"].undecidable, what


def test_reads_outside_of_the_result_count(inputs: dict[str, DataFrame]) -> None:
    """Queries inside expressions, and SQL with CTEs over the inputs."""
    session = inputs["d_orders"].sparkSession
    for name, frame in inputs.items():
        frame.createOrReplaceTempView(name)

    def compute(_: Mapping[str, DataFrame], day: date) -> DataFrame:
        return session.sql(
            "WITH few AS (SELECT u FROM d_returns WHERE dt = :day) SELECT u, (SELECT max(x) FROM d_users WHERE "
            "dt = date_sub(:day, 1)) AS m FROM d_orders WHERE dt = :day AND u IN (SELECT u FROM few) "
            "AND EXISTS (SELECT 1 FROM d_clicks AS c WHERE c.u = d_orders.u AND c.dt = date_sub(:day, 2))",
            args={"day": day},
        )

    inferred = {name: str(read) for name, read in reads(compute, inputs, TIMES[:9]).items()}
    assert inferred == {"d_clicks": "Set -2", "d_orders": "Set 0", "d_returns": "Set 0", "d_users": "Set -1"}
