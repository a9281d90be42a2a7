"""Backfills in the JSON of the HTTP interface and of `tidemark backfills --json`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

from tidemark.api.baseline_models import RepairModel, repair_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.center.backfill_preview import BackfillPreview
    from tidemark.dependency_model.backfill import BackfillPhase, Member, SliceProgress
    from tidemark.state_store.backfills import BackfillRow, MemberRow


class BackfillModel(BaseModel):
    """One backfill; `slices` has the number of slices by progress. Times are in UTC."""

    number: int
    phase: str
    asked: str
    who: str
    why: str
    origin: str
    planned_at: datetime
    changed_at: datetime
    slices: dict[str, int]


class BackfillsModel(BaseModel):
    """The newest backfills, newest first."""

    backfills: list[BackfillModel]


class ProgressModel(BaseModel):
    """The progress of a slice and the reason; `after` is an earlier backfill that must process it first."""

    slice: str
    wave: int
    progress: str
    why: str
    after: int | None


class BackfillPageModel(BackfillModel):
    """A backfill with its slices, or some of them, in the order of its waves."""

    progress: list[ProgressModel]


class PlannedSliceModel(BaseModel):
    """A slice of a plan. A `root` was requested; a `given` slice is made by another system and is not computed."""

    slice: str
    wave: int
    policy: str
    root: bool
    given: bool


class PlannedBackfillModel(BaseModel):
    """A plan with its number and phase (null in a dry run); `runs` is the approximate number of runs.

    `also_in` has, by number of an active backfill, the slices that both have: that backfill goes first.
    """

    number: int | None
    phase: str | None
    dry_run: bool
    waves: int
    runs: int
    estimate: RepairModel
    also_in: dict[int, int]
    slices: list[PlannedSliceModel]


class PhaseModel(BaseModel):
    """The phase of a backfill."""

    number: int
    phase: str


class DecidedModel(BaseModel):
    """The number of slices that were decided about; 0 if none asked."""

    number: int
    decided: int
    rebuild: bool


def backfill_model(row: BackfillRow, counts: Mapping[SliceProgress, int]) -> BackfillModel:
    """A listed backfill with the progress of its slices."""
    return BackfillModel(
        number=row.number,
        phase=row.phase.value,
        asked=row.request.asked,
        who=row.request.who,
        why=row.request.why,
        origin=row.request.origin,
        planned_at=row.planned_at,
        changed_at=row.changed_at,
        slices={progress.value: count for progress, count in counts.items()},
    )


def backfill_page_model(
    row: BackfillRow, counts: Mapping[SliceProgress, int], members: Iterable[MemberRow]
) -> BackfillPageModel:
    """A backfill with the progress of these slices."""
    progress = [_progress(member) for member in members]
    return BackfillPageModel(**backfill_model(row, counts).model_dump(), progress=progress)


def planned_model(preview: BackfillPreview, number: int | None, phase: BackfillPhase) -> PlannedBackfillModel:
    """A plan with its number and phase, or a dry run without them."""
    return PlannedBackfillModel(
        number=number,
        phase=None if number is None else phase.value,
        dry_run=number is None,
        waves=len(preview.planned.waves),
        runs=preview.runs,
        estimate=repair_model(preview.estimate),
        also_in=dict(preview.also_in),
        slices=[_planned(member) for member in preview.planned.members.values()],
    )


def _progress(member: MemberRow) -> ProgressModel:
    return ProgressModel(
        slice=str(member.slice),
        wave=member.wave,
        progress=member.progress.value,
        why=member.why,
        after=member.after,
    )


def _planned(member: Member) -> PlannedSliceModel:
    return PlannedSliceModel(
        slice=str(member.slice),
        wave=member.wave,
        policy=member.policy.value,
        root=member.is_root,
        given=member.is_given,
    )
