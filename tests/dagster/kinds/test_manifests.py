"""One judge: what the center decided is what a run opens; a run by hand is judged alike, forced, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.center.detectors.told_event import FORCED_KEY, MISSING_KEY, STATE_KEY
from tidemark.dagster.granted_slice_manifests import FORCE_TAG, WHY_KEY
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.warm_runs.run_identity import REFUSED_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MONDAY, TUESDAY, WEDNESDAY = "2026-03-23", "2026-03-24", "2026-03-25"
COUNT = "SELECT count(*) AS n FROM"
FILES = {
    "facts.yaml": "kind: Virtual\nperiod: day\n",
    "exact.yaml": "kind: Virtual\nperiod: day\n",
    "enough.yaml": (
        "period: day\ndepends_on:\n  - {entity: facts, offset: 'Range -1..1', weak: {at_least: 2}, because: a proof}\n"
        "quality: [{row_count: {min: 1}}]\n"
    ),
    "enough.sql": f"{COUNT} facts\n",
    "any.yaml": (
        "period: day\nreprocess: never\ndepends_on:\n"
        "  - {entity: facts, offset: 'Range 0..2', weak: {any_of: true}, because: a proof}\n"
    ),
    "any.sql": f"{COUNT} facts\n",
    "late.yaml": (
        "period: day\ndepends_on:\n  - {entity: exact, offset: Set 0, weak: {timeout: 1h}, because: a proof}\n"
        "  - {entity: facts, offset: Set 0}\n"
    ),
    "late.sql": "SELECT (SELECT count(*) FROM facts WHERE dt = :biz_date) AS n, (SELECT count(*) FROM exact) AS m\n",
    "newest.yaml": "period: day\ndepends_on: [{entity: facts, offset: last_available, because: a proof}]\n",
    "newest.sql": "SELECT max(n) AS n FROM facts\n",
    "reads.yaml": (
        "period: day\nstates:\n"
        "  - {entity_state: estimated, depends_on: [{entity: facts, offset: Set 0}]}\n"
        "  - {entity_state: completed, depends_on: [{entity: facts, offset: Set 0}, {entity: exact, offset: Set 0}]}\n"
    ),
    "reads.sql": (
        "SELECT coalesce((SELECT max(n) FROM exact WHERE dt = :biz_date), 0) AS n,\n"
        "(SELECT count(*) FROM facts WHERE dt = :biz_date) AS m\n"
    ),
    "early.yaml": ("period: day\ndepends_on: [{entity: reads, offset: Set 0, states: [estimated, completed]}]\n"),
    "early.sql": "SELECT max(n) AS n FROM reads WHERE dt = :biz_date\n",
    "strict.yaml": "period: day\n",
    "strict.sql": f"{COUNT} facts WHERE dt = :biz_date\n",
}


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> Iterator[RunningWarehouse]:
    with running(spark, tmp_path, FILES) as started:
        yield started


def arrive(world: RunningWarehouse, *slices: str, n: int = 1) -> None:
    for slice_ in slices:
        world.arrive(slice_, [(n,)], "n INT")


def test_weak_clauses_go_on_partial_and_again_by_policy(world: RunningWarehouse) -> None:
    arrive(world, f"facts@{MONDAY}")
    first = {slice_ for run in world.run() for slice_ in run}
    assert {f"any@{MONDAY}", f"late@{MONDAY}"} <= first
    assert f"enough@{MONDAY}" not in first, "one of two"
    assert world.rows(f"any@{MONDAY}") == [(1,)]
    assert world.states(f"any@{MONDAY}") == {"completed", "partial"}
    told = world.metadata(f"any@{MONDAY}")
    assert told[MISSING_KEY] == f"facts@{TUESDAY}, facts@{WEDNESDAY}"
    assert told[WHY_KEY] == "facts: any of them suffices"
    assert world.metadata(f"late@{MONDAY}")[WHY_KEY] == "exact: waited long enough"
    assert world.rows(f"late@{MONDAY}") == [(1, 0)]

    arrive(world, f"facts@{TUESDAY}", f"exact@{MONDAY}")
    second = {slice_ for run in world.run() for slice_ in run}
    assert {f"enough@{MONDAY}", f"late@{MONDAY}"} <= second
    assert f"any@{MONDAY}" not in second, "its policy is to be kept"
    assert world.rows(f"enough@{MONDAY}") == [(2,)]
    assert world.rows(f"late@{MONDAY}") == [(1, 1)], "what was missing has come: computed again"
    assert world.states(f"late@{MONDAY}") == {"completed", "backfilled"}
    assert MISSING_KEY not in world.metadata(f"late@{MONDAY}")


@pytest.mark.long
def test_last_available_takes_the_older_one_that_is_there(world: RunningWarehouse) -> None:
    arrive(world, f"facts@{MONDAY}", n=7)
    world.run()
    assert world.rows(f"newest@{WEDNESDAY}") == [(7,)]
    assert world.states(f"newest@{WEDNESDAY}") == {"completed"}


@pytest.mark.long
def test_estimated_then_completed(world: RunningWarehouse) -> None:
    arrive(world, f"facts@{MONDAY}")
    world.run()
    assert world.states(f"reads@{MONDAY}") == {"waiting", "estimated"}
    assert world.metadata(f"reads@{MONDAY}")[STATE_KEY] == "estimated"
    assert world.rows(f"reads@{MONDAY}") == [(0, 1)]
    assert world.rows(f"early@{MONDAY}") == [(0,)], "it accepts the estimate"
    arrive(world, f"exact@{MONDAY}", n=9)
    assert any(f"reads@{MONDAY}" in run for run in world.run())
    assert world.states(f"reads@{MONDAY}") == {"completed", "estimated"}
    assert world.rows(f"reads@{MONDAY}") == [(9, 1)]
    assert world.rows(f"early@{MONDAY}") == [(9,)], "what it made of the estimate is computed again"


@pytest.mark.long
def test_a_run_by_hand_is_judged_by_the_same_clauses(world: RunningWarehouse) -> None:
    """No center ever ran: what Dagster knows is all there is."""
    arrive(world, f"facts@{MONDAY}")
    refused = world.by_hand(f"enough@{TUESDAY}")
    assert refused.success
    told = [
        event.asset_observation_data.asset_observation for event in refused.all_events if event.is_asset_observation
    ]
    assert [seen.partition for seen in told] == [TUESDAY]
    assert str(told[0].description).startswith("skipped: the slice is not ready")
    assert [*refused.get_asset_materialization_events(), *refused.get_asset_check_evaluations()] == []
    assert not world.has_table("enough")
    assert world.by_hand(f"any@{MONDAY}").success
    assert world.rows(f"any@{MONDAY}") == [(1,)]
    assert world.by_hand(f"newest@{WEDNESDAY}").success
    assert world.by_hand(f"reads@{MONDAY}").success
    assert world.metadata(f"reads@{MONDAY}")[STATE_KEY] == "estimated"


@pytest.mark.long
def test_a_forced_run_lists_its_missing_inputs(world: RunningWarehouse) -> None:
    assert world.by_hand(f"strict@{TUESDAY}", {FORCE_TAG: "the board meets at nine"}).success
    told = world.metadata(f"strict@{TUESDAY}")
    assert (told[FORCED_KEY], told[MISSING_KEY]) == ("the board meets at nine", f"facts@{TUESDAY}")
    world.run()
    assert world.states(f"strict@{TUESDAY}") == {"completed", "partial"}
    arrive(world, f"facts@{TUESDAY}")
    world.run()
    assert world.rows(f"strict@{TUESDAY}") == [(1,)]
    assert world.states(f"strict@{TUESDAY}") == {"completed", "backfilled"}


@pytest.mark.long
def test_a_refused_run_uses_up_no_attempt(world: RunningWarehouse) -> None:
    for _ in range(3):
        refused = world.by_hand(f"strict@{MONDAY}")
        run = world.instance.get_run_by_id(refused.run_id)
        assert run is not None
        assert run.tags[REFUSED_TAG] == "strict"
        world.run()
        world.run()
    history = world.read.history(Slice("strict", MONDAY))
    assert [step.event for step in history].count(Event.REFUSED) == 3
    assert Event.FAILED not in [step.event for step in history]
    assert world.dispatch.retries_exhausted() == []
    arrive(world, f"facts@{MONDAY}")
    assert any(f"strict@{MONDAY}" in run for run in world.run())


@pytest.mark.long
def test_a_run_reads_its_manifest_and_not_later_slices(world: RunningWarehouse) -> None:
    """Between the launch and its run a second slice comes: the run reads the one that it was launched for."""
    arrive(world, f"facts@{MONDAY}")
    center = world.host.center
    world.host.take_in()
    slice_ = Slice("any", MONDAY)
    assert center.launch([slice_], "11111111-1111-4111-8111-111111111111", "default") == [slice_]
    arrive(world, f"facts@{TUESDAY}")
    world.run()
    assert world.rows(f"any@{MONDAY}") == [(1,)]
    launch = world.read.launches([slice_])[slice_]
    assert launch.facts.manifest is not None
    assert [str(used.slice) for used in launch.facts.manifest.used_slices["facts"]] == [f"facts@{MONDAY}"]
