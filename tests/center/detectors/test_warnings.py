"""A rule that only warns is told, and keeps nothing back; what broke is kept in the state store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.center.detectors.test_rules_checked_by_run import DAY, DAYS, poll_state
from tests.center.test_center import CenterWorld
from tests.dependency_model.world import entity
from tidemark.center.detectors.rules_checked_by_run import UNKNOWN_KEY
from tidemark.center.detectors.slice_rules import judge
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState
from tidemark.state_store.broken_rules import broken_rules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("severity", "quality", "ready"),
    [("WARN", Quality.PASSED, [f"ads@{DAY}"]), ("ERROR", Quality.UNKNOWN, [])],
)
def test_a_failed_check_of_a_run_holds_by_its_severity(
    tmp_path: Path, severity: str, quality: Quality, ready: list[str]
) -> None:
    @dg.asset(name="dwd", partitions_def=DAYS, check_specs=[dg.AssetCheckSpec("not_null", asset="dwd")])
    def computed() -> Any:
        yield dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity[severity], check_name="not_null")
        yield dg.MaterializeResult()

    declared = "{period: day, quality: [{not_null: [id]}]}"
    world = CenterWorld(tmp_path, dwd=declared, ads="{period: day, depends_on: [dwd]}")
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        assert dg.materialize([computed], instance=instance, partition_key=DAY).success
        assert poll_state(world, instance) == (RunState.COMPLETED, quality, ready)
    told = world.store.read.history(Slice("dwd", DAY))[-1].why
    assert ("with warnings: not_null: broken" in told) == (severity == "WARN")


RULES = "quality: [{not_null: [id]}]"
OF_ANOMALIES = "quality_on_anomaly: [{unique: [id]}]"
REFUSED = [Event.FAILED, Event.QUALITY_FAILED]


@pytest.mark.parametrize(
    ("rules", "crashed", "quality", "events"),
    [
        (RULES, False, Quality.FAILED, REFUSED),
        pytest.param(OF_ANOMALIES, False, Quality.FAILED, REFUSED, marks=pytest.mark.long),
        (RULES, True, Quality.UNKNOWN, [Event.FAILED]),
    ],
)
def test_a_refused_slice_is_invalid_and_one_whose_rule_crashed_is_unknown(
    tmp_path: Path, *, rules: str, crashed: bool, quality: Quality, events: list[Event]
) -> None:
    @dg.asset(name="dwd", partitions_def=DAYS, check_specs=[dg.AssetCheckSpec("not_null", asset="dwd")])
    def refused() -> Any:
        yield dg.AssetCheckResult(
            passed=False, check_name="not_null", description="2 nulls", metadata={UNKNOWN_KEY: True} if crashed else {}
        )
        raise ValueError("not released")

    declared = f"{{period: day, {rules}}}"
    world = CenterWorld(tmp_path, dwd=declared, ads="{period: day, depends_on: [dwd]}")
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        assert not dg.materialize([refused], instance=instance, partition_key=DAY, raise_on_error=False).success
        poll_state(world, instance)  # the run that ended is known to have begun
        assert poll_state(world, instance) == (RunState.FAILED, quality, [])
        assert poll_state(world, instance) == (RunState.FAILED, quality, [])
    told = world.store.read.history(Slice("dwd", DAY))[-len(events) :]
    assert [step.event for step in told] == events
    assert all(step.why.endswith("not_null: 2 nulls") for step in told)
    assert list(broken_rules(world.store.database, 0, 99).values()) == ["not_null: 2 nulls"] * (not crashed)


@pytest.mark.slow
def test_a_refused_slice_is_good_again_after_a_run_whose_rules_hold(tmp_path: Path) -> None:
    is_good = False

    @dg.asset(name="dwd", partitions_def=DAYS, check_specs=[dg.AssetCheckSpec("not_null", asset="dwd")])
    def tried() -> Any:
        yield dg.AssetCheckResult(passed=is_good, check_name="not_null", description="2 nulls")
        if not is_good:
            raise ValueError("not released")
        yield dg.MaterializeResult()

    declared = {"dwd": "{period: day, quality: [{not_null: [id]}]}", "ads": "{period: day, depends_on: [dwd]}"}
    world = CenterWorld(tmp_path, **declared)
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        dg.materialize([tried], instance=instance, partition_key=DAY, raise_on_error=False)
        poll_state(world, instance)
        assert poll_state(world, instance) == (RunState.FAILED, Quality.FAILED, [])
        assert not world.center.status(Slice("ads", DAY)).issues
        is_good = True
        assert dg.materialize([tried], instance=instance, partition_key=DAY).success
        assert poll_state(world, instance) == (RunState.COMPLETED, Quality.PASSED, [f"ads@{DAY}"])
    assert world.center.status(Slice("dwd", DAY)).issues == frozenset()


@pytest.mark.parametrize(("severity", "holds_back"), [("block", True), ("warn", False)])
def test_a_broken_rule_of_external_data_holds_by_its_severity(severity: str, *, holds_back: bool) -> None:
    text = f"{{kind: Virtual, period: day, quality: [{{row_count: {{min: 5, severity: {severity}}}}}]}}"
    (verdict,) = judge(entity("clicks", text), Sight(is_there=True, why="", rows=1))
    assert (verdict.passed, verdict.holds_back) == (False, holds_back)
