"""Baselines in the JSON of the HTTP interface and of `tidemark baseline --json`. Times are in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.center.baseline import Baseline, PathStep
    from tidemark.dependency_model.baseline.repair_time import RepairTime


class PathStepModel(BaseModel):
    """A slice of the key path; `repair_by` is the latest start of a run that still keeps the promise."""

    slice: str
    start: datetime
    finish: datetime
    history: str
    room_seconds: float
    repair_by: datetime


class BaselineModel(BaseModel):
    """The promise of one slice; `late` is the probability that it comes after `ready_by`."""

    slice: str
    owner: str
    priority: int
    ready_by: datetime
    state: str
    p50: datetime | None
    p90: datetime | None
    p99: datetime | None
    margin_seconds: float | None
    late: float
    why_late: list[str]
    key_path: list[PathStepModel]


class RepairModel(BaseModel):
    """An estimate for `slices` slices: seconds until the last one is there, and the total seconds of work."""

    slices: int
    p50_seconds: float
    p90_seconds: float
    p99_seconds: float
    work_seconds: float


class BaselinesModel(BaseModel):
    """Open or due promises of today, the smallest margin first; promises that were `kept` are only counted."""

    now: datetime
    kept: int
    baselines: list[BaselineModel]


def baselines_model(now: datetime, promised: int, baselines: Iterable[Baseline]) -> BaselinesModel:
    """The baselines at `now`: `promised` slices, of which `baselines` are open."""
    models = [_baseline(baseline) for baseline in baselines]
    return BaselinesModel(now=now, kept=promised - len(models), baselines=models)


def repair_model(repair: RepairTime) -> RepairModel:
    """An estimate, in whole seconds."""
    return RepairModel(
        slices=repair.slices,
        p50_seconds=round(repair.p50),
        p90_seconds=round(repair.p90),
        p99_seconds=round(repair.p99),
        work_seconds=round(repair.work),
    )


def _baseline(baseline: Baseline) -> BaselineModel:
    return BaselineModel(
        slice=str(baseline.slice),
        owner=baseline.owner,
        priority=baseline.priority,
        ready_by=baseline.ready_by,
        state=baseline.state.value,
        p50=baseline.p50,
        p90=baseline.p90,
        p99=baseline.p99,
        margin_seconds=baseline.margin.total_seconds() if baseline.margin is not None else None,
        late=round(baseline.late, 3),
        why_late=list(baseline.causes),
        key_path=[_step(step) for step in baseline.path],
    )


def _step(step: PathStep) -> PathStepModel:
    return PathStepModel(
        slice=str(step.slice),
        start=step.start,
        finish=step.finish,
        history=step.label.value,
        room_seconds=step.room.total_seconds(),
        repair_by=step.repair_by,
    )
