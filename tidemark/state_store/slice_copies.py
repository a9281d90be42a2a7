"""The state of each slice's copy to a replica: planned, copying, copied, verified, published, or failed.

One state machine for each slice and place, for the newest generation. The copying process holds the lease of the place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.dependency_model.retry_wait import retry_wait
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence

_LONGEST_REASON: Final = 2_000


class CopyState(Enum):
    """The state of the generation that is being copied."""

    PLANNED = "planned"
    COPYING = "copying"
    COPIED = "copied"
    VERIFIED = "verified"
    PUBLISHED = "published"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PublishedSlice:
    """The published slice: `version` of the source's table, `replica_version` of the replica's table.

    `fault` is a later fault of it that was committed to the replica's log.
    """

    generation: int
    version: int
    replica_version: int
    at: datetime
    fault: str = ""


@dataclass(frozen=True, slots=True)
class SliceCopy:
    """The copy of `version` of the source's table. After a failure, `reason` says why, and it is repeated at `due_at`.

    `files` and `size_bytes` are those of the slice, `sent_bytes` what was sent. `damaged` are files at the place that
    must not be reused.
    """

    slice: Slice
    generation: int
    version: int
    state: CopyState
    changed_at: datetime
    due_at: datetime
    attempts: int = 0
    reason: str = ""
    files: int = 0
    size_bytes: int = 0
    sent_bytes: int = 0
    published: PublishedSlice | None = None
    damaged: tuple[str, ...] = ()

    @classmethod
    def planned(cls, slice_: Slice, generation: int, version: int, now: datetime, before: SliceCopy | None) -> Self:
        """The next generation of a slice; readers still see the published one."""
        return cls(
            slice_, generation, version, CopyState.PLANNED, now, now, published=before.published if before else None
        )

    def as_data(self) -> dict[str, Any]:
        """The copy as JSON."""
        published = self.published
        return {
            "slice": str(self.slice),
            "generation": self.generation,
            "version": self.version,
            "state": self.state.value,
            "changed_at": self.changed_at.isoformat(),
            "due_at": self.due_at.isoformat(),
            "attempts": self.attempts,
            "reason": self.reason,
            "files": self.files,
            "size_bytes": self.size_bytes,
            "sent_bytes": self.sent_bytes,
            "damaged": list(self.damaged),
            "published": {**asdict(published), "at": published.at.isoformat()} if published else None,
        }

    def again(self, damaged: Iterable[str], now: datetime) -> SliceCopy:
        """Publish it again, because the replica differs from the published state."""
        names = tuple(sorted({*self.damaged, *damaged}))
        return replace(self, state=CopyState.PLANNED, changed_at=now, due_at=now, attempts=0, damaged=names)

    @property
    def is_open(self) -> bool:
        """Whether there is work left."""
        return self.state is not CopyState.PUBLISHED

    def at(
        self, state: CopyState, now: datetime, files: int = 0, size_bytes: int = 0, sent_bytes: int = 0
    ) -> SliceCopy:
        """The same copy in another state; counts stay unless given."""
        return replace(
            self,
            state=state,
            changed_at=now,
            reason="",
            files=files or self.files,
            size_bytes=size_bytes or self.size_bytes,
            sent_bytes=self.sent_bytes + sent_bytes,
        )

    def failed(self, reason: str, now: datetime) -> SliceCopy:
        """Repeated after a wait, which doubles each time."""
        return replace(
            self,
            state=CopyState.FAILED,
            reason=reason[:_LONGEST_REASON],
            attempts=self.attempts + 1,
            changed_at=now,
            due_at=now + retry_wait(self.attempts),
        )

    def with_fault(self, fault: str) -> SliceCopy:
        """The published slice with this fault at the replica; an empty text ends the fault."""
        return replace(self, published=self.published and replace(self.published, fault=fault[:_LONGEST_REASON]))

    def done(self, replica_version: int, now: datetime) -> SliceCopy:
        """Published: readers see it."""
        published = PublishedSlice(self.generation, self.version, replica_version, now)
        return replace(
            self, state=CopyState.PUBLISHED, changed_at=now, reason="", attempts=0, published=published, damaged=()
        )


class SliceCopies:
    """Copies of one entity to one place. All raise StateStoreDownError, writes with fences also FencedError."""

    def __init__(self, database: Database, place: str, entity: str) -> None:
        self._notes = Notes(database, f"replication {place} {entity}")

    def all(self) -> dict[Slice, SliceCopy]:
        """All copies by slice."""
        copies = map(_copy, self._notes.all().values())
        return {copy.slice: copy for copy in copies}

    def of(self, slice_: Slice) -> SliceCopy | None:
        """The copy of a slice; None if it was never planned."""
        content = self._notes.get(str(slice_))
        return None if content is None else _copy(content)

    def put(self, copies: Iterable[SliceCopy], fences: Iterable[Fence] = ()) -> None:
        """Replace the copies of these slices."""
        self._notes.put({str(copy.slice): json_text(copy.as_data()) for copy in copies}, fences)


def _copy(content: str) -> SliceCopy:
    told = json.loads(content)
    published = told["published"]
    times = {name: datetime.fromisoformat(told[name]) for name in ("changed_at", "due_at")}
    seen = PublishedSlice(**{**published, "at": datetime.fromisoformat(published["at"])}) if published else None
    known = {
        "damaged": tuple(told.get("damaged", ())),
        "slice": Slice.parse(told["slice"]),
        "state": CopyState(told["state"]),
        "published": seen,
    }
    return SliceCopy(**{**told, **times, **known})
