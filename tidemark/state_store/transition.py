"""One event of one slice: who, why, when, and facts about the data (seed capability C2)."""

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
"""Prefix of ids of events in Dagster's log; the id of their run follows. Ids of the API begin with `api:`."""

RUN_IN_DAGSTER: Final = "run_in_dagster"
"""The parameter with Dagster's run id, for the end of a run that Dagster did not log."""


class FailureCount(NamedTuple):
    """The number of failures of a slice's generation, with the time (UTC) and transition of the last one.

    `is_held` means that it was cancelled, and waits for a user.
    """

    generation: int
    times: int
    seq: int
    record_time: datetime
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that a run or a detector reports about the slice's data; None or empty if not reported.

    `snapshot_id` is the version of its table, `manifest` what a launched run opens, `code` the id of the computing
    code; `code_content` is its content if it was not stored before.
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
    """An event of the transition table, and the status after it.

    `event_id` is unique: a repeated append has no effect. `event_time` is when it happened, `record_time` when it was
    written, both aware. `seq` numbers all transitions without gaps, in the order of their visibility.
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
    """The unreadable part of the stored row, with the reason."""

    @property
    def run_in_dagster(self) -> str | None:
        """Dagster's id of the event's run; None for events that Dagster did not log."""
        id_, is_dagsters = self.event_id.removeprefix(OF_DAGSTER), self.event_id.startswith(OF_DAGSTER)
        return id_.partition(":")[0] if is_dagsters else self.facts.parameters.get(RUN_IN_DAGSTER)


@dataclass(frozen=True, slots=True)
class Current:
    """The status of a slice after transition `seq`, and its last run."""

    slice: Slice
    status: SliceStatus
    seq: int
    run_id: str | None
    cluster: str | None
    unreadable: str = ""
    """Why the stored status cannot be read; the slice counts as failed until its next event."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(instant: datetime) -> int:
    """Whole microseconds since 1970-01-01T00:00Z of an aware instant."""
    passed = instant - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def instant_of(micros: int) -> datetime:
    """The instant in UTC from microseconds since 1970-01-01T00:00Z."""
    return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=micros % 1_000_000)
