"""Promises of a small company: predicted before their time, with the chain that decides and what is wrong on it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.center.baseline.baseline_world import BaselineWorld
from tidemark.dependency_model.baseline.learned_times import HistoryLabel
from tidemark.dependency_model.baseline.promise import PromiseState
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.center.baseline import Baseline

_TODAY = Slice("ads", "2024-06-11")


@pytest.fixture
def world(tmp_path: Path) -> BaselineWorld:
    made = BaselineWorld(tmp_path)
    made.live(range(2, 12))
    return made


def _today(world: BaselineWorld) -> Baseline:
    return next(baseline for baseline in world.baselines().all() if baseline.slice == _TODAY)


def test_a_usual_day_is_safe(world: BaselineWorld) -> None:
    world.at(12, 0, 5)
    baseline = _today(world)
    assert (baseline.state, baseline.owner, baseline.causes) == (PromiseState.SAFE, "data", ())
    assert baseline.p50 is not None
    assert abs(baseline.p50 - world.now.replace(hour=1, minute=0)) < timedelta(minutes=4)
    assert [(step.slice.entity, step.label) for step in baseline.path] == [
        ("ext", HistoryLabel.STEADY),
        ("dwd", HistoryLabel.STEADY),
        ("ads", HistoryLabel.STEADY),
    ]
    latest = baseline.path[1].repair_by
    assert abs(latest - world.now.replace(hour=1, minute=20)) < timedelta(minutes=4)


def test_a_late_input_puts_the_promise_over_before_its_time(world: BaselineWorld) -> None:
    world.at(12, 1, 30)
    baseline = _today(world)
    assert baseline.state is PromiseState.OVER
    assert world.now < baseline.ready_by
    assert baseline.causes[0].startswith("ext@2024-06-11 has not arrived in its usual time (1:")
    assert baseline.cause == "ext@2024-06-11 has not arrived in its usual time"


def test_a_slow_run_is_the_cause(world: BaselineWorld) -> None:
    world.at(12, 0, 20)
    world.report("ext@2024-06-11", "observed")
    world.launch("dwd@2024-06-11")
    world.at(12, 1, 40)
    baseline = _today(world)
    assert baseline.state is PromiseState.OVER
    assert baseline.causes[0].startswith("dwd@2024-06-11 runs for longer than usual")


def test_a_failure_for_good_is_a_risk_even_with_time_left(world: BaselineWorld) -> None:
    world.at(12, 0, 20)
    world.report("ext@2024-06-11", "observed")
    for minute in (21, 25):
        world.at(12, 0, minute)
        world.launch("dwd@2024-06-11")
        world.report("dwd@2024-06-11", "failed")
        if minute == 21:
            world.report("dwd@2024-06-11", "retried")
    baseline = _today(world)
    assert baseline.state is PromiseState.AT_RISK
    assert baseline.cause == "dwd@2024-06-11 failed and waits for a person"


def test_what_is_there_is_not_open(world: BaselineWorld) -> None:
    world.live(range(12, 13))
    told = world.baselines()
    assert _TODAY in told.promised
    assert _TODAY not in [baseline.slice for baseline in told.all()]
    assert told.of(_TODAY).margin is None


def test_without_history_the_answer_is_labelled(tmp_path: Path) -> None:
    world = BaselineWorld(tmp_path)
    world.at(12, 0, 5)
    assert {step.label for step in _today(world).path} == {HistoryLabel.NONE}


def test_a_repair_takes_what_was_built_of_it(world: BaselineWorld) -> None:
    world.at(11, 12)
    repair = world.baselines().repair([Slice("dwd", "2024-06-10")])
    assert repair.slices == 2
    assert repair.p50 == pytest.approx(2_400, rel=0.05)
    assert repair.work == pytest.approx(2_400, rel=0.05)


def test_an_input_that_is_waited_for_only_so_long_does_not_decide(tmp_path: Path) -> None:
    weak = "{entity: ext, weak: {timeout: 30m}}"
    world = BaselineWorld(
        tmp_path,
        ext="{period: day, time_zone: UTC, kind: Virtual}",
        ads=f'{{period: day, time_zone: UTC, depends_on: [{weak}], ready_by: "02:00"}}',
    )
    for day in range(2, 12):
        world.at(day, 0, 10)
        world.report(f"ext@2024-06-{day - 1:02}", "observed")
        world.launch(f"ads@2024-06-{day - 1:02}")
        world.at(day, 0, 20)
        world.report(f"ads@2024-06-{day - 1:02}", "completed")
    world.at(12, 0, 25)
    baseline = _today(world)
    assert baseline.p50 is not None
    assert baseline.p50 <= world.now.replace(minute=41)
