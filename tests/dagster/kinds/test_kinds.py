"""Every kind of entity, computed by real Dagster runs that the center launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.world import RunningWarehouse, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DAYS = ("2026-03-23", "2026-03-24", "2026-03-25", "2026-03-26")
FILES = {
    "school.yaml": "kind: Project\nperiod: day\ndepends_on: [clicks]\n",
    "media.yaml": "kind: Project\nperiod: day\ndepends_on: [school]\n",
    "clicks.yaml": "kind: Virtual\nperiod: day\n",
    "countries.yaml": "kind: Static\n",
    "countries.sql": "SELECT 'fr' AS country, 'France' AS name\n",
    "visits.yaml": "period: day\nproject: school\n",
    "visits.sql": (
        "SELECT c.country, sum(k.n) AS visits FROM clicks k JOIN countries c ON c.country = k.country\n"
        "WHERE k.dt = :biz_date GROUP BY c.country\n"
    ),
    "visits_3d.yaml": "kind: Sliding\nperiod: day\nproject: school\n",
    "visits_3d.sql": (
        "SELECT count(*) AS days, sum(visits) AS visits FROM visits\n"
        "WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date\n"
    ),
    "visits_mtd.yaml": "kind: Cumulative\nperiod: day\ngranularity: month\n",
    "visits_mtd.sql": (
        "SELECT count(*) AS days, sum(visits) AS visits FROM visits\n"
        "WHERE dt BETWEEN trunc(:biz_date, 'month') AND :biz_date\n"
    ),
    "catalog.yaml": "kind: Snapshot\nperiod: day\n",
    "catalog.sql": "SELECT name FROM countries\n",
    "balance.yaml": "period: day\n",
    "balance.sql": (
        "SELECT sum(amount) AS amount FROM (SELECT amount FROM balance WHERE dt = date_sub(:biz_date, 1)\n"
        "UNION ALL SELECT visits FROM visits WHERE dt = :biz_date)\n"
    ),
    "gaps.yaml": "period: day\n",
    "gaps.sql": (
        "SELECT count(*) AS days, sum(visits) AS visits FROM visits\nWHERE dt IN (:biz_date, date_sub(:biz_date, 2))\n"
    ),
    "media_report.yaml": "period: day\nproject: media\n",
    "media_report.sql": "SELECT sum(visits) AS visits FROM visits WHERE dt = :biz_date\n",
}


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWarehouse]:
    """All kinds, after four days of clicks."""
    with running(spark, tmp_path_factory.mktemp("kinds"), FILES) as started:
        assert started.run() == [("countries@static",), tuple(f"catalog@{day}" for day in DAYS)]
        for number, day in enumerate(DAYS, start=1):
            started.arrive(f"clicks@{day}", [("fr", number), ("xx", 100)], "country STRING, n BIGINT")
        started.run()
        yield started


def launched(world: RunningWarehouse) -> list[str]:
    return [slice_ for run in world.watched.runs for slice_ in run]


def test_everything_is_computed_once(world: RunningWarehouse) -> None:
    computed = ("visits", "visits_3d", "visits_mtd", "catalog", "balance", "gaps", "media_report")
    assert sorted(launched(world)) == sorted(
        [f"{name}@{day}" for name in computed for day in DAYS] + ["countries@static"]
    )
    assert all(world.states(slice_) == {"completed"} for slice_ in launched(world))


def test_static_is_one_table_without_partitions(world: RunningWarehouse) -> None:
    assert world.rows("countries@static") == [("fr", "France")]
    assert [world.rows(f"catalog@{day}") for day in DAYS] == [[("France",)]] * 4


def test_time_series_and_virtual(world: RunningWarehouse) -> None:
    assert [world.rows(f"visits@{day}") for day in DAYS] == [[("fr", number)] for number in (1, 2, 3, 4)]


def test_sliding_begins_with_the_days_that_there_are(world: RunningWarehouse) -> None:
    assert [world.rows(f"visits_3d@{day}") for day in DAYS] == [[(1, 1)], [(2, 3)], [(3, 6)], [(3, 9)]]


def test_cumulative_grows_within_its_granularity(world: RunningWarehouse) -> None:
    assert [world.rows(f"visits_mtd@{day}") for day in DAYS] == [[(1, 1)], [(2, 3)], [(3, 6)], [(4, 10)]]


def test_a_set_with_gaps_reads_no_day_between(world: RunningWarehouse) -> None:
    assert [world.rows(f"gaps@{day}") for day in DAYS] == [[(1, 1)], [(1, 2)], [(2, 4)], [(2, 6)]]


def test_self_dependency_goes_day_by_day(world: RunningWarehouse) -> None:
    assert [world.rows(f"balance@{day}") for day in DAYS] == [[(1,)], [(3,)], [(6,)], [(10,)]]


@pytest.mark.long
def test_a_project_starts_after_its_root_and_is_followed_after_its_end(world: RunningWarehouse) -> None:
    order = launched(world)
    for day in DAYS:
        members = [order.index(f"{name}@{day}") for name in ("visits", "visits_3d")]
        assert order.index(f"media_report@{day}") > max(members)
        assert world.states(f"school@{day}") == world.states(f"media@{day}") == {"completed"}
