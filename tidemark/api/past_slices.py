"""Slices at a past instant, in the JSON of `GET /v1/slices?as_of=` and of `tidemark explain --as-of --json`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from tidemark.catalog.slice_as_of import SliceAsOf
    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice


class UsedSliceModel(BaseModel):
    """An input in this generation, and the version of its table."""

    slice: str
    generation: int
    version: str | None


class PastSliceModel(BaseModel):
    """A slice as recorded by a time; null means not yet happened, or not recorded. Times are in UTC.

    `completed_at`, `who`, `run_id`, `version` and `read` are of its last computation by then.
    """

    slice: str
    as_of: datetime
    run_state: str | None
    states: list[str]
    valid: bool
    tainted: bool
    generation: int | None
    completed_at: datetime | None
    who: str | None
    run_id: str | None
    version: str | None
    read: list[UsedSliceModel] | None


class PastSlicesModel(BaseModel):
    """Each slice of a subject, in order of time."""

    slices: list[PastSliceModel]


def past_slice_model(told: SliceAsOf) -> PastSliceModel:
    """A past slice as JSON."""
    status, written = told.status, told.written
    return PastSliceModel(
        slice=str(told.slice),
        as_of=told.when,
        run_state=status.run_state.value if status else None,
        states=sorted(status.states) if status else [],
        valid=bool(status and status.valid),
        tainted=bool(status and status.tainted),
        generation=status.generation if status else None,
        completed_at=written.event_time if written else None,
        who=written.who if written else None,
        run_id=written.facts.run_id if written else None,
        version=written.facts.snapshot_id if written else None,
        read=None if told.read is None else [_used(used) for used in told.read],
    )


def _used(used: UsedSlice) -> UsedSliceModel:
    return UsedSliceModel(slice=str(used.slice), generation=used.generation, version=used.version or None)
