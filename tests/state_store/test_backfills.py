"""Backfills are kept with their plans, moved from phase to phase, and found again as far as they were."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tidemark.dependency_model.backfill import BackfillPhase, BackfillPlan, Member, SliceProgress
from tidemark.dependency_model.backfill.progress import BackfillAction
from tidemark.dependency_model.entity import Reprocess
from tidemark.dependency_model.slice import Slice
from tidemark.state_store import backfills as stored
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


def test_a_stored_plan_is_read_unchanged(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST)
    assert backfills.load(number).plan.members == PLAN.members
    row = backfills.row(number)
    assert (row.phase, row.request, row.planned_at == row.changed_at) == (BackfillPhase.PLANNED, REQUEST, True)
    assert backfills.add(PLAN, REQUEST, BackfillPhase.RUNNING) == number + 1
    assert [listed.number for listed in backfills.rows()] == [number + 1, number]
    assert [listed.number for listed in backfills.rows([BackfillPhase.PLANNED])] == [number]


CHANGES: dict[BackfillAction, dict[BackfillPhase, BackfillPhase]] = {
    BackfillAction.APPROVE: {BackfillPhase.PLANNED: BackfillPhase.RUNNING},
    BackfillAction.PAUSE: {BackfillPhase.RUNNING: BackfillPhase.PAUSED},
    BackfillAction.RESUME: {BackfillPhase.PAUSED: BackfillPhase.RUNNING},
    BackfillAction.CANCEL: {
        BackfillPhase.PLANNED: BackfillPhase.CANCELLED,
        BackfillPhase.RUNNING: BackfillPhase.CANCELLING,
        BackfillPhase.PAUSED: BackfillPhase.CANCELLING,
    },
}


@pytest.mark.parametrize("phase", BackfillPhase)
@pytest.mark.parametrize("action", BackfillAction)
def test_an_action_leads_to_its_phase_or_is_refused_and_changes_nothing(
    backfills: Backfills, action: BackfillAction, phase: BackfillPhase
) -> None:
    number = backfills.add(PLAN, REQUEST, phase)
    before = backfills.row(number)
    if phase in CHANGES[action]:
        after = backfills.act(number, action)
        assert (after.phase, after.revision) == (CHANGES[action][phase], before.revision + 1)
    else:
        said = rf"backfill {number} cannot be {action.value}: .*found it is {phase.value}"
        with pytest.raises(BackfillPhaseError, match=said):
            backfills.act(number, action)
        assert backfills.row(number) == before


def test_an_unknown_backfill_cannot_be_approved(backfills: Backfills) -> None:
    with pytest.raises(NoSuchBackfillError, match="the backfill does not exist"):
        backfills.act(7, BackfillAction.APPROVE)


def test_one_of_many_simultaneous_approvals_is_accepted(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST)

    def approve(_: int) -> bool:
        try:
            backfills.act(number, BackfillAction.APPROVE)
        except BackfillPhaseError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(approve, range(16))) == 1
    assert backfills.row(number).revision == 2


@pytest.mark.parametrize(
    ("phase", "end"),
    [
        (BackfillPhase.RUNNING, BackfillPhase.DONE),
        (BackfillPhase.PAUSED, BackfillPhase.DONE),
        (BackfillPhase.CANCELLING, BackfillPhase.CANCELLED),
        (BackfillPhase.DONE, BackfillPhase.DONE),
        (BackfillPhase.CANCELLED, BackfillPhase.CANCELLED),
    ],
)
def test_it_ends_by_the_phase_that_it_has_then(backfills: Backfills, phase: BackfillPhase, end: BackfillPhase) -> None:
    number = backfills.add(PLAN, REQUEST, phase)
    backfills.end(number)
    assert backfills.row(number).phase is end


def test_progress_is_stored_and_decisions_change_the_policy_of_asking_slices(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST, BackfillPhase.RUNNING)
    backfills.note(number, [(0, SliceProgress.REBUILT, ""), (1, SliceProgress.ASKING, "its policy is to ask")])
    before = backfills.row(number).revision
    loaded = backfills.load(number)
    assert (loaded.progress[HOUR], loaded.progress[DAY]) == (SliceProgress.REBUILT, SliceProgress.ASKING)
    assert backfills.counts([number]) == {
        number: {SliceProgress.REBUILT: 1, SliceProgress.ASKING: 1, SliceProgress.PENDING: 1}
    }
    assert [(member.slice, member.progress, member.why) for member in backfills.members(number, 1, 1)] == [
        (DAY, SliceProgress.ASKING, "its policy is to ask")
    ]
    assert backfills.answer(number, {PART}, rebuild=True) == 0
    assert backfills.answer(number, None, rebuild=False) == 1
    decided = backfills.load(number)
    assert (decided.progress[DAY], decided.plan.members[DAY].policy) == (SliceProgress.PENDING, Reprocess.NEVER)
    assert list(decided.turns) == [DAY]
    assert backfills.row(number).revision > before


def test_the_external_origin_of_a_backfill_is_found(backfills: Backfills) -> None:
    assert backfills.begun_by("dagster:abc") is None
    number = backfills.add(PLAN, BackfillRequest("ann", "", "", "dagster:abc"), BackfillPhase.RUNNING)
    assert backfills.begun_by("dagster:abc") == number


def test_a_slice_is_held_by_active_backfills_that_have_not_finished_it(backfills: Backfills) -> None:
    phases = (*(BackfillPhase.RUNNING, BackfillPhase.PLANNED, BackfillPhase.PAUSED, BackfillPhase.DONE),
              *(BackfillPhase.CANCELLING, BackfillPhase.RUNNING))  # fmt: skip
    first, _, third, _, fifth, last = (backfills.add(PLAN, REQUEST, phase) for phase in phases)
    backfills.note(first, [(1, SliceProgress.REBUILT, "")])
    backfills.note(third, [(0, SliceProgress.FAILED, ""), (1, SliceProgress.ASKING, "")])
    assert backfills.holders([HOUR, DAY]) == {HOUR: [first, fifth, last], DAY: [third, fifth, last]}
    assert [member.after for member in backfills.members(last)] == [fifth, fifth, fifth]
    assert [member.after for member in backfills.members(third)] == [first, None, first]
    assert [member.after for member in backfills.members(first)] == [None, None, None]
    assert backfills.holders([Slice("days", "2024-06-02")]) == {}


def test_members_are_read_in_pages_in_the_order_of_the_plan(backfills: Backfills) -> None:
    number = backfills.add(PLAN, REQUEST)
    assert [(member.slice, member.wave) for member in backfills.members(number)] == [(HOUR, 0), (DAY, 1), (PART, 2)]
    pages = [backfills.members(number, skipped, 2) for skipped in (0, 2, 4)]
    assert [[member.slice for member in page] for page in pages] == [[HOUR, DAY], [PART], []]
    assert backfills.members(number + 1) == []


def test_newer_backfills_starve_no_older_one(backfills: Backfills, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_ACTIVE", 3)
    numbers = [backfills.add(PLAN, REQUEST) for _ in range(5)]
    for number in numbers[:3]:
        backfills.act(number, BackfillAction.APPROVE)
    backfills.act(numbers[0], BackfillAction.CANCEL)
    with pytest.raises(BackfillPhaseError, match="fewer than 3 active backfills"):
        backfills.act(numbers[3], BackfillAction.APPROVE)
    backfills.act(numbers[4], BackfillAction.CANCEL)
    assert [row.number for row in backfills.active()] == numbers[:3]
    for number in numbers[:2]:
        backfills.end(number)
    assert backfills.act(numbers[3], BackfillAction.APPROVE).phase is BackfillPhase.RUNNING
