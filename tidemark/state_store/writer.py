"""Appends transitions: a whole batch or nothing, each event id once, only after the expected last transition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from tidemark.state_store.bulk_write import BulkStatement, Rows
from tidemark.state_store.errors import EventKnownError, StateConflictError
from tidemark.state_store.held_lease import require_lease
from tidemark.state_store.row_codec import CURRENT, TRANSITION, current_row, sub_text, transition_row, waiting_row
from tidemark.state_store.schema import (
    CODE_VERSIONS,
    CURSORS,
    SCHEDULE_CURSOR,
    SCHEDULES,
    SLICE_CODES,
    SLICES,
    TRANSITIONS,
)
from tidemark.state_store.transition import instant_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from tidemark.dependency_model.readiness.checkpoint import Checkpoint
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence
    from tidemark.state_store.transition import Transition


class SqlStateWriter:
    """The writer of a database. With a `fence` it writes only while its fencing token is the newest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.fence: Fence | None = None

    def append(self, transitions: Sequence[Transition], *, after: int, cursors: Mapping[str, str] | None = None) -> int:
        try:
            self._write([*rows_of(transitions), *_positions(cursors or {})], after)
        except IntegrityError as error:  # new numbers: `after` was checked in the same transaction
            raise EventKnownError.of(error) from error
        return transitions[-1].seq if transitions else after

    def note(self, checkpoint: Checkpoint, *, after: int) -> None:
        rows = [waiting_row(slice_) for slice_ in checkpoint.waiting]
        waiting = Rows(SLICES, CURRENT, rows, _SLICE, only_new=True)
        schedules = Rows(SCHEDULES, ("entity", "schedule"), sorted(checkpoint.schedules.items()), ("entity",))
        until = {SCHEDULE_CURSOR: str(checkpoint.until)} if checkpoint.is_last else {}
        self._write([waiting, schedules, *_positions(until)], after)

    def _write(self, rows: Sequence[Rows], after: int) -> None:
        """Write everything in one transaction that checks the last transition."""
        if self._database.is_sqlite:
            with self._database.writing() as connection:
                require_lease(connection, self.fence)
                _require_last(connection, after)
                for batch in rows:
                    batch.write(connection)
        else:
            self._write_at_once(rows, after)

    def _write_at_once(self, rows: Sequence[Rows], after: int) -> None:
        statements = (statement for batch in rows for statement in batch.statements("postgresql"))
        try:
            self._database.write_at_once(
                [*_lease_check(self.fence), BulkStatement(_REQUIRE_LAST % after, ()), *statements]
            )
        except DBAPIError as error:
            if getattr(error.orig, "pgcode", None) not in (_NOT_LAST, _NOT_HELD):
                raise
            with self._database.reading() as connection:
                require_lease(connection, self.fence)
                _require_last(connection, after)
            raise


_SLICE: Final = ("entity", "key", "sub")
_NOT_LAST: Final = "TM001"
_NOT_HELD: Final = "TM002"
_REQUIRE_LEASE: Final = """DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM leases WHERE name = '%s' AND fencing_token = %d
      AND holder = convert_from(decode('%s', 'hex'), 'UTF8')) THEN
    RAISE 'not held' USING ERRCODE = 'TM002';
  END IF;
END $$"""
_REQUIRE_LAST: Final = """DO $$ BEGIN
  IF (SELECT coalesce(max(seq), 0) FROM transitions) <> %d THEN
    RAISE 'not the last' USING ERRCODE = 'TM001';
  END IF;
END $$"""


def rows_of(transitions: Sequence[Transition]) -> list[Rows]:
    """Rows of transitions, and the changes of the projection."""
    if not transitions:
        return []
    told = Rows(TRANSITIONS, TRANSITION, [transition_row(transition) for transition in transitions])
    projected = Rows(SLICES, CURRENT, _projection(transitions), _SLICE, keep=("run_id", "cluster"))
    return [told, projected, *_codes([transition for transition in transitions if transition.facts.code])]


def _codes(transitions: Sequence[Transition]) -> list[Rows]:
    """The codes that computed slices, and their contents; a stored content stays."""
    if not transitions:
        return []
    contents: dict[tuple[str, str], str] = {}
    rows: dict[Slice, tuple[object, ...]] = {}
    for transition in transitions:
        slice_, facts = transition.slice, transition.facts
        key = (facts.code, slice_.entity)
        contents[key] = facts.code_content or contents.get(key, "")
        place = (slice_.entity, slice_.key, sub_text(slice_.sub))
        rows[slice_] = (*place, facts.code, transition.status.generation)
    told = [(*key, content) for key, content in contents.items()]
    return [
        Rows(CODE_VERSIONS, ("code", "entity", "content"), [row for row in told if row[2]], ("code", "entity")),
        Rows(CODE_VERSIONS, ("code", "entity", "content"), told, ("code", "entity"), only_new=True),
        Rows(SLICE_CODES, (*_SLICE, "code", "generation"), list(rows.values()), _SLICE),
    ]


def _positions(cursors: Mapping[str, str]) -> list[Rows]:
    return [Rows(CURSORS, ("name", "position"), sorted(cursors.items()), ("name",))] if cursors else []


def _projection(transitions: Sequence[Transition]) -> list[tuple[object, ...]]:
    """The last transition of each slice, with the slice's last run."""
    last: dict[Slice, Transition] = {}
    runs: dict[Slice, tuple[str | None, str | None]] = {}
    for transition in transitions:
        last[transition.slice] = transition
        if transition.facts.run_id:
            runs[transition.slice] = (transition.facts.run_id, transition.facts.cluster)
    return [current_row(transition, runs.get(slice_, (None, None))) for slice_, transition in last.items()]


def _require_last(connection: Connection, after: int) -> None:
    """Raise StateConflictError with both sides if transition `after` is not the last one."""
    last = connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0
    if last == after:
        return
    columns = TRANSITIONS.c
    query = select(columns.who, columns.record_time, columns.event, columns.entity, columns.key)
    who, when, event, entity, key = connection.execute(query.where(columns.seq == last)).one_or_none() or [None] * 5
    what = f"{entity}@{key} {event}" if entity else ""
    raise StateConflictError.of(after, last, who or "", instant_of(when) if when else None, what)


def _lease_check(fence: Fence | None) -> list[BulkStatement]:
    """Lease names are ours and need no quotes; a block binds no values, so the holder is written as hex digits."""
    if fence is None:
        return []
    return [BulkStatement(_REQUIRE_LEASE % (fence.lease, fence.fencing_token, fence.holder.encode().hex()), ())]
