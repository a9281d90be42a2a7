"""Backfills as the HTTP interface and `tidemark backfills --json` tell them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.backfill import SliceProgress
    from tidemark.state_store.backfills import BackfillRow


class BackfillModel(BaseModel):
    """One backfill; `slices` says how many of them are how far. Instants are in UTC."""

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
