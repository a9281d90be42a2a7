"""One thing that happened to one slice: who, why, when, and what is known of the data since (seed capability C2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import Event, SliceStatus


OF_DAGSTER: Final = "dagster:"
"""How the ids of events of Dagster's log begin; the id of their run comes next. Those of the API begin with `api:`."""

RUN_IN_DAGSTER: Final = "run_in_dagster"
"""The parameter of the end of a run that Dagster did not log: its id there."""


class FailureCount(NamedTuple):
    """How often a slice's generation failed, and when (UTC) and by which transition it last ended in vain.

    One that `is_held` was cancelled then: it waits for somebody who asks for it.
    """

    generation: int
    times: int
    seq: int
    record_time: datetime
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run or a detector tells about the slice's data; None and empty where it tells nothing.

    `snapshot_id` is the version of its table, `manifest` what a launched run opens, `code` the id of what computed it;
    `code_content` is what that is, told where it was not known before.
    """

    run_id: str | None = None
    cluster: str | None = None
    row_count: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    snapshot_id: str | None = None
    batch_id: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    watermarks: Mapping[str, Any] = field(default_factory=dict)
    manifest: SliceManifest | None = None
    code: str = ""
    code_content: str = ""


NOTHING_TOLD = Facts()


@dataclass(frozen=True, slots=True)
class Transition:
    """An event of the table of transitions, and the status after it.

    `event_id` is unique: what is appended twice is there once. `event_time` is when it happened, `record_time` when it
    was written, both aware. `seq` numbers all transitions without gaps, in the order in which they became visible.
    """

    seq: int
    event_id: str
    slice: Slice
    event: Event
    status: SliceStatus
    who: str
    why: str
    event_time: datetime
    record_time: datetime
    facts: Facts = NOTHING_TOLD
    unreadable: str = ""
    """What of the stored row cannot be read, with why; the rest of it is as it was stored."""

    @property
    def run_in_dagster(self) -> str | None:
        """The id by which Dagster has the run that this is an event of; None for events that Dagster did not log."""
        id_, is_dagsters = self.event_id.removeprefix(OF_DAGSTER), self.event_id.startswith(OF_DAGSTER)
        return id_.partition(":")[0] if is_dagsters else self.facts.parameters.get(RUN_IN_DAGSTER)


@dataclass(frozen=True, slots=True)
class Current:
    """A slice as it is now: its status after transition `seq`, and its last run."""

    slice: Slice
    status: SliceStatus
    seq: int
    run_id: str | None
    cluster: str | None
    unreadable: str = ""
    """Why the stored status cannot be read; the slice counts as failed until something happens to it."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(instant: datetime) -> int:
    """Whole microseconds since 1970-01-01T00:00Z of an aware instant."""
    passed = instant - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def instant_of(micros: int) -> datetime:
    """The instant in UTC of so many microseconds since 1970-01-01T00:00Z."""
    return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=micros % 1_000_000)
