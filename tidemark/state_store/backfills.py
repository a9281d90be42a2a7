"""Backfills and the progress of their slices, in the state store (seed capability D5).

Users write phases and answers, and the active center writes progress. A revision shows the center what users changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, select

from tidemark.dependency_model.backfill import Backfill, BackfillPhase, BackfillPlan, Member, SliceProgress
from tidemark.dependency_model.backfill.progress import ACTIVE, ENDS, FOLLOWING, OPEN
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.bulk_write import Rows
from tidemark.state_store.errors import BackfillPhaseError, NoSuchBackfillError
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import BACKFILL_SLICES, BACKFILLS
from tidemark.state_store.transition import instant_of, microseconds
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlalchemy import Connection

    from tidemark.dependency_model.backfill.progress import BackfillAction
    from tidemark.state_store.database import Database

_COLUMNS: Final = ("number", "place", "entity", "key", "sub", "wave", "policy", "inputs", "progress", "why")
_DECIDED: Final = "decided"
"""The reason of a pending slice whose policy is the answer of a person."""
NEWEST: Final = 100
MOST_ACTIVE: Final = 1_000
"""Most active backfills: the center holds each in memory, and each must make progress."""


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """The user who requests slices (`asked`, in words), and why; `origin` is what started it outside, or empty."""

    who: str
    why: str
    asked: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class BackfillRow:
    """A backfill in a list. Instants are in UTC."""

    number: int
    phase: BackfillPhase
    request: BackfillRequest
    revision: int
    planned_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class MemberRow:
    """Progress of a slice in a backfill, and the reason; `after` is the last earlier backfill with this slice."""

    slice: Slice
    wave: int
    progress: SliceProgress
    why: str
    after: int | None


class Backfills:
    """The backfills of one database. All methods raise StateStoreDownError if it does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, plan: BackfillPlan, request: BackfillRequest, phase: BackfillPhase = BackfillPhase.PLANNED) -> int:
        """Store a plan and return its number; the existing number if this origin has started a backfill already."""
        now = microseconds(datetime.now(UTC))
        with self._database.writing() as connection:
            if request.origin and (begun := _begun_by(connection, request.origin)) is not None:
                return begun
            number = int(connection.execute(select(func.coalesce(func.max(BACKFILLS.c.number), 0))).scalar_one()) + 1
            values = {"who": request.who, "why": request.why, "asked": request.asked, "origin": request.origin}
            connection.execute(
                BACKFILLS.insert().values(
                    number=number, phase=phase.value, revision=1, planned_at=now, changed_at=now, **values
                )
            )
            Rows(BACKFILL_SLICES, _COLUMNS, list(_rows(number, plan))).write(connection)
        return number

    def rows(self, phases: Collection[BackfillPhase] = (), most: int = NEWEST) -> list[BackfillRow]:
        """The newest backfills with these phases, or all, newest first."""
        query = select(BACKFILLS).order_by(BACKFILLS.c.number.desc()).limit(most)
        if phases:
            query = query.where(BACKFILLS.c.phase.in_([phase.value for phase in phases]))
        with self._database.reading() as connection:
            return [_row_of(row) for row in connection.execute(query)]

    def active(self) -> list[BackfillRow]:
        """All active ones, oldest first; users can approve at most MOST_ACTIVE."""
        active = BACKFILLS.c.phase.in_([phase.value for phase in ACTIVE])
        with self._database.reading() as connection:
            return [
                _row_of(row) for row in connection.execute(select(BACKFILLS).where(active).order_by(BACKFILLS.c.number))
            ]

    def row(self, number: int) -> BackfillRow:
        """One backfill. Raises NoSuchBackfillError."""
        with self._database.reading() as connection:
            return _row(connection, number)

    def begun_by(self, origin: str) -> int | None:
        """The number of the backfill with this origin."""
        with self._database.reading() as connection:
            return _begun_by(connection, origin)

    def load(self, number: int) -> Backfill:
        """A backfill with its plan and progress. Raises NoSuchBackfillError."""
        with self._database.reading() as connection:
            row = _row(connection, number)
            rows = list(connection.execute(_slices(number).order_by(BACKFILL_SLICES.c.place)))
        plan, progress = _plan_of(rows)
        return Backfill(number, row.phase, plan, progress)

    def members(self, number: int, skipped: int = 0, most: int | None = None) -> list[MemberRow]:
        """Progress of its slices in the plan's order: a page after the first `skipped`, or all."""
        query = _slices(number).where(BACKFILL_SLICES.c.place >= skipped).order_by(BACKFILL_SLICES.c.place)
        with self._database.reading() as connection:
            rows = list(connection.execute(query.limit(most)))
        holders = self.holders([_slice(row) for row in rows])
        return [_member_row(row, (other for other in holders.get(_slice(row), ()) if other < number)) for row in rows]

    def holders(self, slices: Collection[Slice]) -> dict[Slice, list[int]]:
        """For each slice, the numbers of active backfills that have not finished it, earlier ones first."""
        columns, wanted = BACKFILL_SLICES.c, set(slices)
        active = select(BACKFILLS.c.number).where(BACKFILLS.c.phase.in_([phase.value for phase in ACTIVE]))
        query = select(columns.number, columns.entity, columns.key, columns.sub).where(
            columns.number.in_(active),
            columns.progress.in_([progress.value for progress in OPEN]),
            columns.entity.in_({slice_.entity for slice_ in wanted}),
        )
        holders: dict[Slice, list[int]] = {}
        with self._database.reading() as connection:
            for row in connection.execute(query.order_by(columns.number)):
                if (slice_ := _slice(row)) in wanted:
                    holders.setdefault(slice_, []).append(row.number)
        return holders

    def last_with(self, slice_: Slice, other: Slice) -> tuple[int, SliceProgress] | None:
        """The newest backfill that has both slices, with its progress of the first one."""
        columns = BACKFILL_SLICES.c

        def of(wanted: Slice) -> tuple[Any, ...]:
            return columns.entity == wanted.entity, columns.key == wanted.key, columns.sub == sub_text(wanted.sub)

        both = columns.number.in_(select(columns.number).where(*of(other)))
        query = select(columns.number, columns.progress).where(*of(slice_), both).order_by(columns.number.desc())
        with self._database.reading() as connection:
            row = connection.execute(query.limit(1)).one_or_none()
        return None if row is None else (row.number, SliceProgress(row.progress))

    def counts(self, numbers: Collection[int]) -> dict[int, dict[SliceProgress, int]]:
        """The number of slices in each state of progress, by backfill."""
        columns = BACKFILL_SLICES.c
        query = select(columns.number, columns.progress, func.count()).where(columns.number.in_(numbers))
        counted: dict[int, dict[SliceProgress, int]] = {number: {} for number in numbers}
        with self._database.reading() as connection:
            for number, progress, count in connection.execute(query.group_by(columns.number, columns.progress)):
                counted[number][SliceProgress(progress)] = count
        return counted

    def act(self, number: int, action: BackfillAction) -> BackfillRow:
        """Carry out a user's action. Raises NoSuchBackfillError and BackfillPhaseError."""
        following = FOLLOWING[action]
        with self._database.writing() as connection:
            before = _row(connection, number).phase
            if before not in following:
                raise BackfillPhaseError.of(number, action.value, [phase.value for phase in following], before.value)
            if before not in ACTIVE and following[before] in ACTIVE:
                _require_room(connection, number, action)
            _change(connection, number, phase=following[before].value)
            return _row(connection, number)

    def end(self, number: int) -> None:
        """End a backfill whose slices are all settled, whatever users did at the same time."""
        with self._database.writing() as connection:
            before = _row(connection, number).phase
            if before in ENDS:
                _change(connection, number, phase=ENDS[before].value)

    def note(self, number: int, noted: Iterable[tuple[int, SliceProgress, str]]) -> None:
        """Store progress and reasons of slices, by their place in the plan."""
        values = [{"at": place, "to": progress.value, "because": why} for place, progress, why in noted]
        if not values:
            return
        columns = BACKFILL_SLICES.c
        changed = BACKFILL_SLICES.update().values(progress=bindparam("to"), why=bindparam("because"))
        with self._database.writing() as connection:
            connection.execute(changed.where(columns.number == number, columns.place == bindparam("at")), values)

    def abandon(self, number: int, slices: Collection[Slice]) -> None:
        """Keep pending slices, because no other process rebuilds them."""
        columns = BACKFILL_SLICES.c
        with self._database.writing() as connection:
            pending = connection.execute(_slices(number).where(columns.progress == SliceProgress.PENDING.value)).all()
            places = [row.place for row in pending if _slice(row) in slices]
            kept = BACKFILL_SLICES.update().where(columns.number == number, columns.place.in_(places))
            connection.execute(
                kept.values(progress=SliceProgress.KEPT.value, why="its backfill in Dagster ended without it")
            )
            _change(connection, number)

    def answer(self, number: int, slices: Collection[Slice] | None, *, rebuild: bool) -> int:
        """Decide about slices that wait for a user, some or all; returns their number. Raises NoSuchBackfillError."""
        columns = BACKFILL_SLICES.c
        with self._database.writing() as connection:
            _row(connection, number)
            asking = connection.execute(_slices(number).where(columns.progress == SliceProgress.ASKING.value)).all()
            places = [row.place for row in asking if slices is None or _slice(row) in slices]
            policy = Reprocess.ALWAYS if rebuild else Reprocess.NEVER
            decided = BACKFILL_SLICES.update().where(columns.number == number, columns.place.in_(places))
            connection.execute(decided.values(progress=SliceProgress.PENDING.value, policy=policy.value, why=_DECIDED))
            _change(connection, number)
        return len(places)


def _rows(number: int, plan: BackfillPlan) -> Iterable[tuple[Any, ...]]:
    places = {slice_: place for place, slice_ in enumerate(plan.members)}
    for place, member in enumerate(plan.members.values()):
        inputs = {
            "reads": [places[used] for used in member.inputs],
            "needs": sorted(places[used] for used in member.needed),
            "root": member.is_root,
            "given": member.is_given,
            "after": member.after,
        }
        slice_ = member.slice
        named = (slice_.entity, slice_.key, sub_text(slice_.sub), member.wave, member.policy.value)
        yield (number, place, *named, json_text(inputs, separators=(",", ":")), SliceProgress.PENDING.value, "")


def _plan_of(rows: Iterable[Any]) -> tuple[BackfillPlan, Mapping[Slice, SliceProgress]]:
    rows = list(rows)
    slices = [_slice(row) for row in rows]
    members = {slice_: _member(row, slices) for slice_, row in zip(slices, rows, strict=True)}
    return BackfillPlan(members), {
        slice_: SliceProgress(row.progress) for slice_, row in zip(slices, rows, strict=True)
    }


def _member(row: Any, slices: list[Slice]) -> Member:
    inputs = json.loads(row.inputs)
    return Member(
        slices[row.place],
        Reprocess(row.policy),
        tuple(slices[place] for place in inputs["reads"]),
        frozenset(slices[place] for place in inputs["needs"]),
        is_root=inputs["root"],
        is_given=inputs["given"],
        after=inputs.get("after"),
        wave=row.wave,
        is_decided=row.why == _DECIDED,
    )


def _member_row(row: Any, earlier: Iterable[int]) -> MemberRow:
    return MemberRow(_slice(row), row.wave, SliceProgress(row.progress), row.why, max(earlier, default=None))


def _slices(number: int) -> Any:
    return select(BACKFILL_SLICES).where(BACKFILL_SLICES.c.number == number)


def _slice(row: Any) -> Slice:
    return Slice(row.entity, row.key, sub_of(row.sub))


def _row(connection: Connection, number: int) -> BackfillRow:
    row = connection.execute(select(BACKFILLS).where(BACKFILLS.c.number == number)).one_or_none()
    if row is None:
        raise NoSuchBackfillError.of(number)
    return _row_of(row)


def _row_of(row: Any) -> BackfillRow:
    request = BackfillRequest(row.who, row.why, row.asked, row.origin)
    times = instant_of(row.planned_at), instant_of(row.changed_at)
    return BackfillRow(row.number, BackfillPhase(row.phase), request, row.revision, *times)


def _begun_by(connection: Connection, origin: str) -> int | None:
    return connection.execute(select(func.max(BACKFILLS.c.number)).where(BACKFILLS.c.origin == origin)).scalar()


def _change(connection: Connection, number: int, **values: str) -> None:
    changed = {**values, "revision": BACKFILLS.c.revision + 1, "changed_at": microseconds(datetime.now(UTC))}
    connection.execute(BACKFILLS.update().where(BACKFILLS.c.number == number).values(changed))


def _require_room(connection: Connection, number: int, action: BackfillAction) -> None:
    query = select(func.count()).where(BACKFILLS.c.phase.in_([phase.value for phase in ACTIVE]))
    active = int(connection.execute(query).scalar_one())
    if active >= MOST_ACTIVE:
        raise BackfillPhaseError(
            f"backfill {number} cannot be {action.value} now",
            expected=f"fewer than {MOST_ACTIVE:,} active backfills",
            found=f"{active:,}",
            hint="cancel some of them, or wait until they have ended",
        )
