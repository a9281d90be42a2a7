"""Each slice is gated by its own data and its own rules, in whatever order these are told and looked at."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import dagster as dg
import pytest
from dagster import DagsterEvent, DagsterEventType
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluation
from dagster._core.events import StepMaterializationData
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.center.test_center import CenterWorld
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS: Final = ("2024-06-01", "2024-06-02")
RULES: Final = ("not_null", "row_count")
RUNS: Final = ("first", "second")
DECLARED: Final = {
    "dwd": "{period: day, quality: [{not_null: [id]}, {row_count: {min: 1}}]}",
    "ads": "{period: day, depends_on: [dwd]}",
}


@dataclass(frozen=True)
class Said:
    """What a run says of a day: that its data is there, or what a rule found."""

    run: str
    day: str
    rule: str | None = None
    passed: bool = True


@dataclass
class Model:
    """The gate in plain words: open while the data that was told last is of a run whose rules all held by then.

    What is told between two looks is one moment: the results of a look count for the data of the same look.
    """

    told: list[Said] = field(default_factory=list)
    there: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)

    def look(self, said: Sequence[Said]) -> None:
        self.told += said
        for data in (event for event in said if event.rule is None):
            self.there.add(data.day)
            verdicts = {
                check.rule: check.passed
                for check in self.told
                if check.rule and (check.run, check.day) == (data.run, data.day)
            }
            is_good = len(verdicts) == len(RULES) and all(verdicts.values())
            (self.open.add if is_good else self.open.discard)(data.day)


@st.composite
def interleavings(draw: st.DrawFn) -> list[list[Said]]:
    """All that two runs say of two days, in any order, some of it never said; cut where somebody looks."""
    said = [Said(run, day) for run in RUNS for day in DAYS]
    said += [
        Said(run, day, rule, draw(st.sampled_from([True, True, False])))
        for run in RUNS
        for day in DAYS
        for rule in RULES
    ]
    order = draw(st.permutations(said))[: draw(st.integers(4, len(said)))]
    cuts = sorted(draw(st.sets(st.integers(1, len(order)), max_size=4)))
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def write(instance: dg.DagsterInstance, said: Said) -> None:
    key = dg.AssetKey(["dwd"])
    if said.rule is None:
        told = dg.AssetMaterialization(key, partition=said.day)
        kind, data = DagsterEventType.ASSET_MATERIALIZATION, StepMaterializationData(told)
        event = DagsterEvent(kind.value, "job", event_specific_data=data)
    else:
        result = AssetCheckEvaluation(key, said.rule, said.passed, partition=said.day)
        event = DagsterEvent(DagsterEventType.ASSET_CHECK_EVALUATION.value, "job", event_specific_data=result)
    instance.report_dagster_event(event, run_id=said.run)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(interleavings())
def test_a_slice_is_read_when_its_own_data_and_rules_are_there(looks: list[list[Said]]) -> None:
    with tempfile.TemporaryDirectory() as folder, dg.DagsterInstance.ephemeral() as instance:
        world, model = CenterWorld(Path(folder), **DECLARED), Model()
        for run in RUNS:
            instance.add_run(dg.DagsterRun(job_name="job", run_id=run))
        detector = EventLogDetector(instance, world.center, world.store.read)
        for said in looks:
            for event in said:
                write(instance, event)
            detector.poll()
            model.look(said)
            assert {name for name in world.ready() if name.startswith("ads@")} == {f"ads@{day}" for day in model.open}
            for day in DAYS:
                status = world.center.status(Slice("dwd", day))
                assert (status.run_state is RunState.COMPLETED) == (day in model.there)
                assert (status.quality is Quality.PASSED) == (day in model.open)
        world.store.close()
