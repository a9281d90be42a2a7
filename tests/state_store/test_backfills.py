"""Backfills are kept with their plans, moved from phase to phase, and found again as far as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.dependency_model.backfill import BackfillPhase, BackfillPlan, Member, SliceProgress
from tidemark.dependency_model.entity import Reprocess
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.state_store.errors import BackfillPhaseError, NoSuchBackfillError

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

HOUR, DAY, PART = (
    Slice("hours", "2024-06-01T05"),
    Slice("days", "2024-06-01"),
    Slice("parts", "2024-06-01", (("r", "cn"),)),
)
PLAN = BackfillPlan(
    {
        HOUR: Member(HOUR, Reprocess.ALWAYS, is_root=True, is_given=True),
        DAY: Member(DAY, Reprocess.ASK, (HOUR,), frozenset({HOUR}), wave=1),
        PART: Member(PART, Reprocess.IF_CHANGED, (HOUR, DAY), frozenset({DAY}), wave=2),
    }
)
REQUEST = BackfillRequest("ann", "the feed repeated itself", "hours 2024-06-01T05")


@pytest.fixture
def backfills(database: Database) -> Backfills:
    return Backfills(database)


def test_a_plan_is_found_again_as_it_was(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST)
    assert backfills.load(number).plan.members == PLAN.members
    row = backfills.row(number)
    assert (row.phase, row.request, row.planned_at == row.changed_at) == (BackfillPhase.PLANNED, REQUEST, True)
    assert backfills.add(PLAN, REQUEST, BackfillPhase.RUNNING) == number + 1
    assert [listed.number for listed in backfills.rows()] == [number + 1, number]
    assert [listed.number for listed in backfills.rows([BackfillPhase.PLANNED])] == [number]


def test_phases_follow_each_other_and_others_are_refused(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST)
    for phase in (
        BackfillPhase.RUNNING,
        BackfillPhase.PAUSED,
        BackfillPhase.RUNNING,
        BackfillPhase.CANCELLING,
        BackfillPhase.CANCELLED,
    ):
        assert backfills.move(number, phase).phase is phase
    with pytest.raises(BackfillPhaseError, match=r"backfill 1 cannot be running: .*found it is cancelled"):
        backfills.move(number, BackfillPhase.RUNNING)
    with pytest.raises(NoSuchBackfillError, match="no such backfill"):
        backfills.move(7, BackfillPhase.RUNNING)


def test_progress_is_kept_and_answers_change_the_policy_of_what_asks(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST, BackfillPhase.RUNNING)
    backfills.note(number, [(0, SliceProgress.REBUILT, ""), (1, SliceProgress.ASKING, "its policy is to ask")])
    before = backfills.row(number).revision
    loaded = backfills.load(number)
    assert (loaded.progress[HOUR], loaded.progress[DAY]) == (SliceProgress.REBUILT, SliceProgress.ASKING)
    assert backfills.counts([number]) == {
        number: {SliceProgress.REBUILT: 1, SliceProgress.ASKING: 1, SliceProgress.PENDING: 1}
    }
    assert backfills.reasons(number) == {DAY: "its policy is to ask"}
    assert backfills.answer(number, {PART}, rebuild=True) == 0
    assert backfills.answer(number, None, rebuild=False) == 1
    decided = backfills.load(number)
    assert (decided.progress[DAY], decided.plan.members[DAY].policy) == (SliceProgress.PENDING, Reprocess.NEVER)
    assert list(decided.turns) == [DAY]
    assert backfills.row(number).revision > before


def test_what_began_it_outside_is_found(backfills: Backfills) -> None:
    assert backfills.begun_by("dagster:abc") is None
    number = backfills.add(PLAN, BackfillRequest("ann", "", "", "dagster:abc"), BackfillPhase.RUNNING)
    assert backfills.begun_by("dagster:abc") == number
