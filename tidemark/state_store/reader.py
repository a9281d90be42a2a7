"""Reads the state: now, at a past time, and changes since a transition."""

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
    """Readers of the state. All methods raise StateStoreDownError if the database does not answer."""

    def last(self) -> int:
        """The number of the last transition; 0 if there is none."""

    def everything(self, floor: str = "") -> tuple[int, list[Current]]:
        """The last transition, and the state of every slice that is open or whose key sorts at or after `floor`.

        All of one instant. Open slices are waiting, active, failed or tainted.
        """

    def schedules(self) -> tuple[int, dict[str, str]]:
        """The time (seconds) up to which schedules were evaluated, by entity with its declaration."""

    def completed_slices(self, entity: str) -> list[Current]:
        """The completed slices of an entity."""

    def currents(self, slices: Iterable[Slice]) -> list[Current]:
        """Current states of the slices that have any."""

    def older(self, places: Iterable[tuple[str, Sub]], before: str, limit: int) -> list[Current]:
        """For each entity and sub-partition, the last slices whose keys sort before a text, newest first."""

    def current(self, slice_: Slice) -> Current | None:
        """The current state of one slice; None without any event."""

    def slices_of_run(self, run_id: str) -> list[Slice]:
        """Slices whose last run has this id, in order; the id is Dagster's or that of the launch."""

    def runs_under_way(self) -> set[str]:
        """The last run of each active slice."""

    def history(self, slice_: Slice) -> list[Transition]:
        """All transitions of a slice, oldest first."""

    def after(self, seq: int, limit: int | None = None) -> list[Transition]:
        """Transitions after a number, in order."""

    def failures(self) -> dict[Slice, FailureCount]:
        """Failures of each open slice's present generation, if any."""

    def launches(self, slices: Iterable[Slice]) -> dict[Slice, Transition]:
        """The last `launched` or `forced` of each slice."""

    def reports(self, slices: Iterable[Slice], events: Iterable[Event]) -> dict[Slice, list[ReportBefore]]:
        """The reports of each slice with one of these events, oldest first; a slice without any is left out."""

    def reads(self, slices: Iterable[Slice]) -> dict[Slice, list[tuple[Slice, int]] | None]:
        """Inputs of the last run of each slice with a run, with generations; None if they were not reported."""

    def known_ids(self, event_ids: Iterable[str]) -> set[str]:
        """The event ids that are stored already."""

    def versions(self, slices: Iterable[Slice]) -> dict[Slice, str]:
        """The last reported table version of each slice, if any."""

    def cursor(self, name: str) -> str | None:
        """The position of a detector."""


class SqlStateReader:
    """The reader of a database."""

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

    def runs_under_way(self) -> set[str]:
        is_active = SLICES.c.life.in_(["launched", "running"])
        active = select(SLICES.c.run_id).where(IS_OPEN, is_active, SLICES.c.run_id.is_not(None))
        with self._database.reading() as connection:
            return set(connection.execute(active).scalars())

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
        newest = {(entity, key, sub): version for entity, key, sub, version in told}
        return {Slice(entity, key, sub_of(sub)): version for (entity, key, sub), version in newest.items() if version}

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
    """Plain rows of the driver: creating Row objects would cost as much as reading."""
    compiled = query.compile(connection)
    order = compiled.positiontup
    return raw(connection, str(compiled), compiled.params if order is None else tuple(map(compiled.params.get, order)))
