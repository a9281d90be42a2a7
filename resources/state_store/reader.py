"""Reading the state: as it is, as it was at any time, and what happened since a transition."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Select, and_, func, select, tuple_

from resources.state_store.bulk import text_array
from resources.state_store.codec import CURRENT, TRANSITION, current_of, status_of, sub_text, transition_of
from resources.state_store.schema import CURSORS, SLICES, TRANSITIONS
from resources.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from sqlalchemy import Connection, Table

    from dependency_model.slice import Slice
    from dependency_model.status import SliceStatus
    from resources.state_store.database import Database
    from resources.state_store.transition import Current, Transition

_CHUNK = 500


class StateReader(Protocol):
    """What reads the state. Everything raises StateStoreDownError where the database does not answer."""

    def last(self) -> int:
        """The number of the last transition; 0 where there is none."""

    def everything(self) -> tuple[int, list[Current]]:
        """The last transition and every slice's current state, of one moment."""

    def current(self, piece: Slice) -> Current | None:
        """One slice as it is now; None where nothing has happened to it."""

    def status_at(self, piece: Slice, when: datetime) -> SliceStatus | None:
        """The status of a slice as it was recorded at an instant."""

    def history(self, piece: Slice) -> list[Transition]:
        """Everything that happened to a slice, oldest first."""

    def after(self, seq: int, limit: int | None = None) -> list[Transition]:
        """The transitions after a number, in order."""

    def launches(self, pieces: Iterable[Slice]) -> dict[Slice, Transition]:
        """The last `launched` or `forced` of each of the slices."""

    def known_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Those of the event ids that are written."""

    def cursor(self, name: str) -> str | None:
        """How far a detector has read."""


class SqlStateReader:
    """The reader on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self) -> int:
        with self._database.reading() as connection:
            return _last(connection)

    def everything(self) -> tuple[int, list[Current]]:
        with self._database.at_one_moment() as connection:
            found = [current_of(row) for row in _raw(connection, _of(SLICES, CURRENT))]
            return _last(connection), found

    def current(self, piece: Slice) -> Current | None:
        with self._database.reading() as connection:
            row = connection.execute(_of(SLICES, CURRENT).where(_is(SLICES, piece))).one_or_none()
            return None if row is None else current_of(row)

    def status_at(self, piece: Slice, when: datetime) -> SliceStatus | None:
        columns = TRANSITIONS.c
        query = (
            _of(TRANSITIONS, TRANSITION[10:16])
            .where(_is(TRANSITIONS, piece), columns.record_time <= microseconds(when))
            .order_by(columns.seq.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
            return None if row is None else status_of(*row)

    def history(self, piece: Slice) -> list[Transition]:
        query = _of(TRANSITIONS, TRANSITION).where(_is(TRANSITIONS, piece)).order_by(TRANSITIONS.c.seq)
        with self._database.reading() as connection:
            return [transition_of(row) for row in connection.execute(query)]

    def after(self, seq: int, limit: int | None = None) -> list[Transition]:
        query = _of(TRANSITIONS, TRANSITION).where(TRANSITIONS.c.seq > seq).order_by(TRANSITIONS.c.seq).limit(limit)
        with self._database.reading() as connection:
            return [transition_of(row) for row in connection.execute(query)]

    def launches(self, pieces: Iterable[Slice]) -> dict[Slice, Transition]:
        wanted = list(pieces)
        found: dict[Slice, Transition] = {}
        columns = TRANSITIONS.c
        with self._database.reading() as connection:
            for start in range(0, len(wanted), _CHUNK):
                chunk = [(one.entity, one.key, sub_text(one.sub)) for one in wanted[start : start + _CHUNK]]
                rows = connection.execute(
                    _of(TRANSITIONS, TRANSITION)
                    .where(
                        tuple_(columns.entity, columns.key, columns.sub).in_(chunk),
                        columns.event.in_(("launched", "forced")),
                    )
                    .order_by(columns.seq)
                )
                found.update((one.piece, one) for one in map(transition_of, rows))
        return found

    def known_ids(self, event_ids: Iterable[str]) -> set[str]:
        wanted = list(event_ids)
        if not wanted:
            return set()
        with self._database.reading() as connection:
            text = "SELECT event_id FROM transitions WHERE event_id "
            if self._database.is_sqlite:
                rows = connection.exec_driver_sql(text + "IN (SELECT value FROM json_each(?))", (json.dumps(wanted),))
            else:
                rows = connection.exec_driver_sql(text + "= ANY(%s::text[])", (text_array(wanted),))
            return {row[0] for row in rows}

    def cursor(self, name: str) -> str | None:
        with self._database.reading() as connection:
            return connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == name)).scalar()


def _last(connection: Connection) -> int:
    return connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0


def _of(table: Table, names: tuple[str, ...]) -> Select[Any]:
    return select(*(table.c[name] for name in names))


def _is(table: Table, piece: Slice) -> Any:
    columns = table.c
    return and_(columns.entity == piece.entity, columns.key == piece.key, columns.sub == sub_text(piece.sub))


def _raw(connection: Connection, query: Select[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows as the driver gives them: a Row object each would cost as much as reading them."""
    result = connection.exec_driver_sql(str(query.compile(connection)))
    cursor = result.cursor
    return iter(cursor.fetchall() if cursor is not None else ())
