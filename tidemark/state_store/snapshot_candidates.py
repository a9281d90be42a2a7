"""Candidates: versions of captured tables to tag when their blocking rules pass (A5).

Write, audit, publish: capture proposes the version at a slice's end, a run checks it, and one transaction makes it the
tag. Until then, or if the rules fail, readers see the earlier tag. Candidates have a table of their own, so they are
never read by mistake. Like tags, they are a projection of the Delta log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from tidemark.state_store.schema import CANDIDATES, SNAPSHOTS
from tidemark.state_store.tagged_snapshot import (
    delete_row,
    find_row,
    is_at,
    next_restatements,
    snapshot_of,
    update_row,
    values_of,
    write_row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from tidemark.state_store.database import Database
    from tidemark.state_store.tagged_snapshot import SnapshotKey, TaggedSnapshot


class CandidateVerdict(Enum):
    """The result of a candidate's rules so far."""

    PENDING = "pending"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Candidate:
    """A future tag; `why` is what a rule expected and found, or why it crashed."""

    snapshot: TaggedSnapshot
    verdict: CandidateVerdict
    why: str

    @property
    def reason(self) -> str:
        """Why this version is not tagged, in a sentence."""
        told = {
            CandidateVerdict.PENDING: "its blocking rules were not checked yet",
            CandidateVerdict.REFUSED: f"a blocking rule failed: {self.why}",
            CandidateVerdict.UNKNOWN: f"the result of its blocking rules is unknown: {self.why}",
        }
        late = " with its late changes" if self.snapshot.is_restated else ""
        return f"version {self.snapshot.version}{late} is not tagged: {told[self.verdict]}"


class SnapshotCandidates:
    """The candidates in one database; safe between threads and processes. All methods raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def propose(self, snapshots: Sequence[TaggedSnapshot]) -> None:
        """Store versions to check, in one transaction; existing tags and candidates do not change.

        Raises SnapshotTagTakenError if a slice has a tag or candidate with another version.
        """
        with self._database.writing() as connection:
            for snapshot in snapshots:
                if find_row(connection, SNAPSHOTS, snapshot.key) is None:
                    write_row(connection, CANDIDATES, snapshot, verdict=CandidateVerdict.PENDING.value, why="")
                else:
                    write_row(connection, SNAPSHOTS, snapshot)

    def get(self, entity: str, period: str, slice_key: str) -> Candidate | None:
        """The candidate of a slice; None if nothing waits for its rules."""
        with self._database.reading() as connection:
            at = is_at(CANDIDATES, (entity, period, slice_key))
            row = connection.execute(select(CANDIDATES).where(at)).one_or_none()
            return None if row is None else _candidate(row)

    def of(self, entity: str, period: str | None = None) -> tuple[Candidate, ...]:
        """All candidates of an entity, ordered by period and slice."""
        query = select(CANDIDATES).where(CANDIDATES.c.entity == entity)
        if period is not None:
            query = query.where(CANDIDATES.c.period == period)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(CANDIDATES.c.period, CANDIDATES.c.slice))
            return tuple(map(_candidate, rows))

    def publish(self, judged: TaggedSnapshot, now: datetime) -> None:
        """Tag checked candidates in one transaction; tags of later generations stay.

        A candidate that was restated or repaired since stays a candidate, because it was not checked. Raises
        SnapshotTagTakenError.
        """
        tagged = replace(judged, tagged_at=now)
        with self._database.writing() as connection:
            before = find_row(connection, SNAPSHOTS, judged.key)
            if before is not None and before.generation < judged.generation:
                update_row(connection, SNAPSHOTS, judged.key, values_of(tagged))
            elif before is None or before.generation == judged.generation:
                write_row(connection, SNAPSHOTS, tagged)
            if _is_still(connection, judged):
                delete_row(connection, CANDIDATES, judged.key)

    def hold_back(self, judged: TaggedSnapshot, verdict: CandidateVerdict, why: str) -> None:
        """Store why a checked candidate is not tagged, unless it has been replaced."""
        with self._database.writing() as connection:
            if _is_still(connection, judged):
                update_row(connection, CANDIDATES, judged.key, {"verdict": verdict.value, "why": why})

    def repaired(self, before: TaggedSnapshot, version: int, rows: int) -> None:
        """Check the version of a repair instead of the candidate's: a new generation."""
        with self._database.writing() as connection:
            if _is_still(connection, before):
                (number,) = next_restatements(connection, 1)
                changed = {"version": version, "rows": rows, "generation": before.generation + 1}
                pending = {"restatement": number, "verdict": CandidateVerdict.PENDING.value, "why": ""}
                update_row(connection, CANDIDATES, before.key, {**changed, **pending})


def _is_still(connection: Connection, judged: TaggedSnapshot) -> bool:
    """Whether the slice's candidate is the checked one."""
    now = find_row(connection, CANDIDATES, judged.key)
    return now is not None and _content(now) == _content(judged)


def _content(snapshot: TaggedSnapshot) -> tuple[SnapshotKey, int, int, int]:
    return snapshot.key, snapshot.version, snapshot.generation, snapshot.late_batch


def _candidate(row: Row[Any]) -> Candidate:
    values = row._mapping  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    return Candidate(snapshot_of(row), CandidateVerdict(values["verdict"]), values["why"])
