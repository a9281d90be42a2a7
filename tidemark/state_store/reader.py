"""Reading the state: as it is, as it was at any time, and what happened since a transition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import CompoundSelect, Select, and_, case, func, select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.dependency_model.status.late_report import ReportBefore
from tidemark.state_store.bulk_write import text_array
from tidemark.state_store.launch_reads import launch_reads
from tidemark.state_store.row_codec import (
    CURRENT,
    TRANSITION,
    current_of,
    sub_of,
    sub_text,
    transition_of,
)
from tidemark.state_store.schema import CURSORS, IS_OPEN, SCHEDULE_CURSOR, SCHEDULES, SLICES, TRANSITIONS
from tidemark.state_store.slice_lookup import alternatives_of, raw, slices_before, slices_of, versions_of
from tidemark.state_store.transition import OF_DAGSTER, FailureCount, instant_of
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Table

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.state_store.database import Database
    from tidemark.state_store.transition import Current, Transition


class StateReader(Protocol):
    """What reads the state. Everything raises StateStoreDownError where the database does not answer."""

    def last(self) -> int:
        """The number of the last transition; 0 where there is none."""

    def everything(self, floor: str = "") -> tuple[int, list[Current]]:
        """The last transition, and the state of every slice whose key sorts at or after `floor`, or that is open.

        All of one moment. Open is what waits, is under way, failed or is tainted.
        """

    def schedules(self) -> tuple[int, dict[str, str]]:
        """Up to when (seconds) the schedules of which entities were gone through, and of what those were made."""

    def completed_slices(self, entity: str) -> list[Current]:
        """What is there of an entity."""

    def currents(self, slices: Iterable[Slice]) -> list[Current]:
        """Those of the slices to which anything has happened, as they are now."""

    def older(self, places: Iterable[tuple[str, Sub]], before: str, limit: int) -> list[Current]:
        """Of each entity and sub-partition the last slices whose keys sort before a text, newest first."""

    def current(self, slice_: Slice) -> Current | None:
        """One slice as it is now; None where nothing has happened to it."""

    def slices_of_run(self, run_id: str) -> list[Slice]:
        """The slices whose last run it was, in order: by the id that Dagster has it by, or that of its launch."""

    def history(self, slice_: Slice) -> list[Transition]:
        """Everything that happened to a slice, oldest first."""

    def after(self, seq: int, limit: int | None = None) -> list[Transition]:
        """The transitions after a number, in order."""

    def failures(self) -> dict[Slice, FailureCount]:
        """How often the present generation of each slice that is open ended in vain, where it did."""

    def launches(self, slices: Iterable[Slice]) -> dict[Slice, Transition]:
        """The last `launched` or `forced` of each of the slices."""

    def reports(self, slices: Iterable[Slice], events: Iterable[Event]) -> dict[Slice, list[ReportBefore]]:
        """Which of these events happened to each of the slices, oldest first; nothing of those that had none."""

    def reads(self, slices: Iterable[Slice]) -> dict[Slice, list[tuple[Slice, int]] | None]:
        """Of those of the slices that had a run: what its last one read, with generations; None if nobody told it."""

    def known_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Those of the event ids that are written."""

    def versions(self, slices: Iterable[Slice]) -> dict[Slice, str]:
        """The version of its table that was last told of each of the slices, where one was."""

    def cursor(self, name: str) -> str | None:
        """How far a detector has read."""


class SqlStateReader:
    """The reader on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self) -> int:
        with self._database.reading() as connection:
            return _last(connection)

    def everything(self, floor: str = "") -> tuple[int, list[Current]]:
        query: Select[Any] | CompoundSelect[Any] = _of(SLICES, CURRENT)
        if floor:
            rows = _of(SLICES, CURRENT)
            query = rows.where(SLICES.c.key >= floor).union_all(rows.where(IS_OPEN, SLICES.c.key < floor))
        with self._database.at_one_instant() as connection:
            return _last(connection), [current_of(row) for row in _raw(connection, query)]

    def schedules(self) -> tuple[int, dict[str, str]]:
        with self._database.at_one_instant() as connection:
            until = connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == SCHEDULE_CURSOR)).scalar()
            query = select(SCHEDULES.c.entity, SCHEDULES.c.schedule).where(SCHEDULES.c.schedule != "")
            values = dict(_raw(connection, query))
        return int(until or 0), values

    def completed_slices(self, entity: str) -> list[Current]:
        query = _of(SLICES, CURRENT).where(SLICES.c.entity == entity, SLICES.c.life == "completed")
        with self._database.reading() as connection:
            return [current_of(row) for row in _raw(connection, query)]

    def currents(self, slices: Iterable[Slice]) -> list[Current]:
        wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
        with self._database.reading() as connection:
            return [current_of(row) for row in slices_of(connection, wanted)]

    def older(self, places: Iterable[tuple[str, Sub]], before: str, limit: int) -> list[Current]:
        wanted = [(entity, sub_text(sub)) for entity, sub in places]
        with self._database.reading() as connection:
            return [current_of(row) for row in slices_before(connection, wanted, before, limit)]

    def current(self, slice_: Slice) -> Current | None:
        with self._database.reading() as connection:
            row = connection.execute(_of(SLICES, CURRENT).where(_is(SLICES, slice_))).one_or_none()
            return None if row is None else current_of(row)

    def slices_of_run(self, run_id: str) -> list[Slice]:
        slices, told = _of(SLICES, ("entity", "key", "sub")), TRANSITIONS.c
        of_dagster = told.event_id.startswith(f"{OF_DAGSTER}{run_id}:", autoescape=True)
        with self._database.reading() as connection:
            rows = connection.execute(slices.where(SLICES.c.run_id == run_id)).all()
            if not rows and run_id:
                launches = select(told.run_id).where(of_dagster, told.run_id.is_not(None))
                rows = connection.execute(slices.where(SLICES.c.run_id.in_(launches))).all()
            return sorted(Slice(entity, key, sub_of(sub)) for entity, key, sub in rows)

    def history(self, slice_: Slice) -> list[Transition]:
        query = _of(TRANSITIONS, TRANSITION).where(_is(TRANSITIONS, slice_)).order_by(TRANSITIONS.c.seq)
        with self._database.reading() as connection:
            return [transition_of(row) for row in connection.execute(query)]

    def after(self, seq: int, limit: int | None = None) -> list[Transition]:
        query = _of(TRANSITIONS, TRANSITION).where(TRANSITIONS.c.seq > seq).order_by(TRANSITIONS.c.seq).limit(limit)
        with self._database.reading() as connection:
            return [transition_of(row) for row in connection.execute(query)]

    def failures(self) -> dict[Slice, FailureCount]:
        columns = (SLICES.c.entity, SLICES.c.key, SLICES.c.sub, SLICES.c.generation)
        is_open = select(*columns).where(IS_OPEN).subquery()
        slices, failed = is_open.c, TRANSITIONS.c
        of_slice = and_(failed.entity == slices.entity, failed.key == slices.key, failed.sub == slices.sub)
        of_generation = and_(failed.event.in_(("failed", "cancelled")), failed.generation == slices.generation)
        failures = func.sum(case((failed.event == "failed", 1), else_=0))
        cancelled = func.max(case((failed.event == "cancelled", failed.seq), else_=0))
        query = (
            select(*slices, failures, func.max(failed.seq), func.max(failed.record_time), cancelled)
            .select_from(is_open.join(TRANSITIONS, and_(of_slice, of_generation)))
            .group_by(*slices)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query)
            return {
                Slice(row[0], row[1], sub_of(row[2])): FailureCount(
                    row[3], int(row[4]), row[5], instant_of(row[6]), is_held=row[7] == row[5]
                )
                for row in rows
            }

    def launches(self, slices: Iterable[Slice]) -> dict[Slice, Transition]:
        wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
        newest: dict[Slice, Transition] = {}
        columns = TRANSITIONS.c
        query = _of(TRANSITIONS, TRANSITION).where(columns.event.in_(("launched", "forced"))).order_by(columns.seq)
        with self._database.reading() as connection:
            for are_some in alternatives_of(columns, wanted):
                rows = connection.execute(query.where(are_some))
                newest.update((transition.slice, transition) for transition in map(transition_of, rows))
        return newest

    def reports(self, slices: Iterable[Slice], events: Iterable[Event]) -> dict[Slice, list[ReportBefore]]:
        wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
        columns = TRANSITIONS.c
        reported: dict[Slice, list[ReportBefore]] = {}
        slice_of, told = (columns.entity, columns.key, columns.sub), (columns.event_time, columns.event_id)
        query = select(*slice_of, columns.run_id, columns.event, *told)
        query = query.where(columns.event.in_([event.value for event in events])).order_by(columns.seq)
        with self._database.reading() as connection:
            for are_some in alternatives_of(columns, wanted):
                for entity, key, sub, run, event, at, id_ in connection.execute(query.where(are_some)):
                    report = ReportBefore(run, Event(event), instant_of(at), id_.startswith(OF_DAGSTER))
                    reported.setdefault(Slice(entity, key, sub_of(sub)), []).append(report)
        return reported

    def reads(self, slices: Iterable[Slice]) -> dict[Slice, list[tuple[Slice, int]] | None]:
        wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
        with self._database.reading() as connection:
            return dict(launch_reads(connection, wanted))

    def known_ids(self, event_ids: Iterable[str]) -> set[str]:
        wanted = list(event_ids)
        if not wanted:
            return set()
        with self._database.reading() as connection:
            text = "SELECT event_id FROM transitions WHERE event_id "
            if self._database.is_sqlite:
                rows = connection.exec_driver_sql(text + "IN (SELECT value FROM json_each(?))", (json_text(wanted),))  # noqa: S608
            else:
                rows = connection.exec_driver_sql(text + "= ANY(%s::text[])", (text_array(wanted),))
            return {row[0] for row in rows}

    def versions(self, slices: Iterable[Slice]) -> dict[Slice, str]:
        wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
        with self._database.reading() as connection:
            told = versions_of(connection, wanted)
        return {Slice(entity, key, sub_of(sub)): version for entity, key, sub, version in told}

    def cursor(self, name: str) -> str | None:
        with self._database.reading() as connection:
            return connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == name)).scalar()


def _last(connection: Connection) -> int:
    return connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0


def _of(table: Table, names: tuple[str, ...]) -> Select[Any]:
    return select(*(table.c[name] for name in names))


def _is(table: Table, slice_: Slice) -> Any:
    columns = table.c
    return and_(columns.entity == slice_.entity, columns.key == slice_.key, columns.sub == sub_text(slice_.sub))


def _raw(connection: Connection, query: Select[Any] | CompoundSelect[Any]) -> list[Any]:
    """The rows as the driver gives them: a Row object each would cost as much as reading them."""
    compiled = query.compile(connection)
    order = compiled.positiontup
    return raw(connection, str(compiled), compiled.params if order is None else tuple(map(compiled.params.get, order)))
