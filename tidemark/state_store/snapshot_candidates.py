"""Candidates: versions of captured tables that are tagged once their blocking rules held (A5).

Write, audit, publish: the capture proposes the version that a slice ends with, a run judges it, and one transaction
makes it the tag. Until then, and where the rules do not hold, readers see what was tagged before: candidates are a
table of their own, which nobody reads by mistake. Like tags they are a projection of the Delta log.
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
    """What the rules said of a candidate so far."""

    PENDING = "pending"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Candidate:
    """A snapshot as it would be tagged; `why` says what a rule expected and found, or why it crashed."""

    snapshot: TaggedSnapshot
    verdict: CandidateVerdict
    why: str

    @property
    def reason(self) -> str:
        """Why the slice has no tag of this version, in a sentence."""
        told = {
            CandidateVerdict.PENDING: "its blocking rules have not been judged yet",
            CandidateVerdict.REFUSED: f"a blocking rule is broken: {self.why}",
            CandidateVerdict.UNKNOWN: f"whether its blocking rules hold is unknown: {self.why}",
        }
        late = " with its late changes" if self.snapshot.is_restated else ""
        return f"version {self.snapshot.version}{late} is not tagged: {told[self.verdict]}"


class SnapshotCandidates:
    """The candidates in one database; safe between threads and between processes. All raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def propose(self, snapshots: Sequence[TaggedSnapshot]) -> None:
        """Note versions that are to be judged, in one transaction; what is tagged or proposed already stays as it is.

        Raises SnapshotTagTakenError where a slice stands for another version, or is proposed as one.
        """
        with self._database.writing() as connection:
            for snapshot in snapshots:
                if find_row(connection, SNAPSHOTS, snapshot.key) is None:
                    write_row(connection, CANDIDATES, snapshot, verdict=CandidateVerdict.PENDING.value, why="")
                else:
                    write_row(connection, SNAPSHOTS, snapshot)

    def get(self, entity: str, period: str, slice_key: str) -> Candidate | None:
        """The candidate of a slice; None where nothing of it waits for its rules."""
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
        """Tag what was judged, in one transaction; what was tagged of a later generation stays.

        A candidate that was restated or repaired meanwhile stays one: nobody has judged it. Raises
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
        """Note why what was judged is not tagged; nothing where it is another candidate by now."""
        with self._database.writing() as connection:
            if _is_still(connection, judged):
                update_row(connection, CANDIDATES, judged.key, {"verdict": verdict.value, "why": why})

    def repaired(self, before: TaggedSnapshot, version: int, rows: int) -> None:
        """Let the version that a repair made be judged in the place of a candidate's: a new generation of it."""
        with self._database.writing() as connection:
            if _is_still(connection, before):
                (number,) = next_restatements(connection, 1)
                changed = {"version": version, "rows": rows, "generation": before.generation + 1}
                pending = {"restatement": number, "verdict": CandidateVerdict.PENDING.value, "why": ""}
                update_row(connection, CANDIDATES, before.key, {**changed, **pending})


def _is_still(connection: Connection, judged: TaggedSnapshot) -> bool:
    """Whether the slice's candidate is the one that was judged, and no later one."""
    now = find_row(connection, CANDIDATES, judged.key)
    return now is not None and _content(now) == _content(judged)


def _content(snapshot: TaggedSnapshot) -> tuple[SnapshotKey, int, int, int]:
    return snapshot.key, snapshot.version, snapshot.generation, snapshot.late_batch


def _candidate(row: Row[Any]) -> Candidate:
    values = row._mapping  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    return Candidate(snapshot_of(row), CandidateVerdict(values["verdict"]), values["why"])
