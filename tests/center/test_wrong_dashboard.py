"""The story of seed 003 on Delta tables in a running Dagster, from a wrong dashboard to content that an oracle has.

`entity_13` is a dashboard of the month. Its figures are wrong; of all that it was computed from the suspects are those
whose query has changed since: `entity_3`, hour by hour, wrong in ten hours of one day. These hours, the one day of what
reads them, `entity_10` included, and the month are rebuilt, and nothing else.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.api.warehouse_status import WarehouseStatus
from tidemark.center.backfill_planning import plan_of
from tidemark.center.launchers.run_tags import BACKFILL_TAG
from tidemark.center.taint import Taint, carry_out
from tidemark.console.suspicion import Suspicion
from tidemark.dependency_model.backfill import BackfillPhase
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import dagster as dg
    from pyspark.sql import SparkSession

    from tidemark.dependency_model.impact import Ground

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

PROJECT = "time_zone: UTC\nstart: 2026-03-30\nend: 2026-04-01\n"
DAYS = ("2026-03-30", "2026-03-31")
WRONG_HOURS = range(5, 15)
BOTH = (
    "SELECT a.v + b.v AS v FROM (SELECT coalesce(sum(v), 0) AS v FROM {} WHERE dt = :biz_date) a "
    "CROSS JOIN (SELECT coalesce(sum(v), 0) AS v FROM {} WHERE dt = :biz_date) b\n"
)
SUM = "SELECT sum(v) AS v FROM {} WHERE dt = :biz_date\n"
WRONG = (
    "SELECT sum(v * CASE WHEN retried THEN 2 ELSE 1 END) AS v FROM entity_1 WHERE dt = :biz_date AND hour = :biz_hour\n"
)
RIGHT = "SELECT sum(v) AS v FROM entity_1 WHERE dt = :biz_date AND hour = :biz_hour\n"
QUERIES = {
    "entity_4": SUM.format("entity_2"),
    "entity_5": SUM.format("entity_2"),
    "entity_6": BOTH.format("entity_3", "entity_4"),
    "entity_7": BOTH.format("entity_4", "entity_5"),
    "entity_8": SUM.format("entity_5"),
    "entity_9": SUM.format("entity_7"),
    "entity_10": SUM.format("entity_3"),
    "entity_11": BOTH.format("entity_6", "entity_7"),
    "entity_12": SUM.format("entity_9"),
}
FILES = {
    "entity_1.yaml": "kind: Virtual\nperiod: hour\n",
    "entity_2.yaml": "kind: Virtual\nperiod: day\n",
    "entity_3.yaml": "period: hour\n",
    "entity_3.sql": WRONG,
    "entity_13.yaml": "period: month\n",
    "entity_13.sql": (
        "SELECT sum(v) AS v FROM entity_11\n"
        "WHERE dt >= CAST(:period_start AS DATE) AND dt < CAST(:period_end AS DATE)\n"
    ),
    **{f"{name}.yaml": "period: day\n" for name in QUERIES},
    **{f"{name}.sql": text for name, text in QUERIES.items()},
}
DASHBOARD = Slice("entity_13", "2026-03")
HOURS = tuple(Slice("entity_3", f"{DAYS[0]}T{hour:02}") for hour in WRONG_HOURS)
OF_THE_DAY = tuple(Slice(name, DAYS[0]) for name in ("entity_6", "entity_10", "entity_11"))
REBUILT = {*HOURS, *OF_THE_DAY, DASHBOARD}
CLICKS = [
    {
        "v": 7 * hour + 1 + day,
        "retried": day == 0 and hour in WRONG_HOURS,
        "dt": date.fromisoformat(DAYS[day]),
        "hour": f"{hour:02}",
    }
    for day in (0, 1)
    for hour in range(24)
]
ORDERS = [{"v": 1000 + day, "dt": date.fromisoformat(DAYS[day])} for day in (0, 1)]
ORACLE = """
WITH d1 AS (SELECT dt, sum(v) AS v FROM clicks GROUP BY dt),
     d2 AS (SELECT dt, v, 2 * v AS of_7 FROM orders),
     d11 AS (SELECT d1.dt, d1.v + d2.v + d2.of_7 AS v FROM d1 JOIN d2 USING (dt))
SELECT 'entity_3' AS name, dt || 'T' || hour AS key, sum(v) AS v FROM clicks GROUP BY dt, hour
UNION ALL SELECT 'entity_4', dt::VARCHAR, v FROM d2 UNION ALL SELECT 'entity_5', dt::VARCHAR, v FROM d2
UNION ALL SELECT 'entity_6', dt::VARCHAR, d1.v + d2.v FROM d1 JOIN d2 USING (dt)
UNION ALL SELECT 'entity_7', dt::VARCHAR, of_7 FROM d2 UNION ALL SELECT 'entity_8', dt::VARCHAR, v FROM d2
UNION ALL SELECT 'entity_9', dt::VARCHAR, of_7 FROM d2 UNION ALL SELECT 'entity_10', dt::VARCHAR, v FROM d1
UNION ALL SELECT 'entity_11', dt::VARCHAR, v FROM d11 UNION ALL SELECT 'entity_12', dt::VARCHAR, of_7 FROM d2
UNION ALL SELECT 'entity_13', '2026-03', sum(v) FROM d11
"""


def expected() -> dict[Slice, int]:
    """What every slice has to hold, recomputed from scratch from what arrived."""
    with duckdb.connect() as connection:
        connection.register("clicks", pa.Table.from_pylist(CLICKS))
        connection.register("orders", pa.Table.from_pylist(ORDERS))
        return {Slice(name, key): int(value) for name, key, value in connection.execute(ORACLE).fetchall()}


def stored(world: RunningWarehouse, slices: Iterable[Slice]) -> dict[Slice, int]:
    return {slice_: int(value) for slice_ in slices for ((value,),) in [world.rows(str(slice_))]}


def fill(world: RunningWarehouse) -> None:
    """Both feeds arrive whole."""
    for name, rows, keys in (("entity_1", CLICKS, ["dt", "hour"]), ("entity_2", ORDERS, ["dt"])):
        write_deltalake(str(world.warehouse.table_path(name)), pa.Table.from_pylist(rows), partition_by=keys)
        for row in rows:
            world.report(f"{name}@{row['dt']}{'T' + str(row['hour']) if 'hour' in row else ''}")


def generations(world: RunningWarehouse) -> Mapping[Slice, int]:
    _, everything = world.read.everything()
    return {current.slice: current.status.generation for current in everything}


def runs_of(world: RunningWarehouse) -> list[dg.DagsterRun]:
    return list(world.instance.get_runs())


def corrected(world: RunningWarehouse, tmp_path: Path) -> RunningWarehouse:
    """The same tables and the same Dagster, with the query that is right."""
    declared = tmp_path / "declared"
    (declared / "dwd" / "entity_3.sql").write_text(RIGHT)
    return RunningWarehouse(world.spark, load_warehouse(world.warehouse.settings, declared), world.instance)


def suspects(world: RunningWarehouse, now: datetime) -> dict[Slice, tuple[Ground, ...]]:
    stands = WarehouseStatus(world.warehouse, world.host.center.store, now)
    return {suspect.slice: suspect.reasons for suspect in Suspicion(stands).suspects(DASHBOARD)}


def test_ten_wrong_hours_are_found_tainted_and_rebuilt_with_exactly_what_was_built_from_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    now, right = datetime.now(UTC), expected()
    with running(spark, tmp_path, FILES, project=PROJECT) as wrong:
        fill(wrong)
        wrong.run()
        before = stored(wrong, right)
        assert {slice_ for slice_, value in before.items() if value != right[slice_]} == REBUILT

        world = corrected(wrong, tmp_path)
        suspected = suspects(world, now)
        assert set(HOURS) <= set(suspected)
        assert {slice_.entity for slice_ in suspected} == {"entity_3"}

        store = world.host.center.store
        marked = carry_out(world.warehouse.graph, store, Taint(HOURS, "ann", "retries counted twice", now)).marked
        assert set(marked) == REBUILT

        plan = plan_of(world.warehouse.graph, store, HOURS, now)
        assert set(plan.rebuilt) == REBUILT
        earlier = {run.run_id for run in runs_of(world)}
        backfills = Backfills(store.database)
        number = backfills.add(
            plan, BackfillRequest("ann", "retries counted twice", "ten hours"), BackfillPhase.RUNNING
        )
        world.run()

        assert backfills.row(number).phase is BackfillPhase.DONE
        assert stored(world, right) == right
        assert {slice_ for slice_, generation in generations(world).items() if generation > 1} == REBUILT
        assert set(generations(world).values()) == {1, 2}
        assert not any(world.host.center.status(slice_).is_flawed for slice_ in right)
        new = [run for run in runs_of(world) if run.run_id not in earlier]
        assert {run.tags.get(BACKFILL_TAG) for run in new} == {str(number)}
        assert [*map(Slice.parse, (text for run in world.watched.runs for text in run))].count(DASHBOARD) == 1
