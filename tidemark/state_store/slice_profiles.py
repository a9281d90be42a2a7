"""Profiles of slices, as measured by the runs that computed or checked them (C9).

Runs write them directly: sketches are too large for an event log, and do not decide about the slice. A new profile of a
slice replaces the old one. Figures are kept as long as transitions, sketches for a month.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_as_data, figures_from_data
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.profile_codec import decode_profile, encode_profile
from tidemark.dependency_model.profile.slice_profile import SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import PROFILES
from tidemark.state_store.slice_lookup import alternatives_of
from tidemark.state_store.transition import instant_of, microseconds
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.state_store.database import Database

NOT_PUBLISHED: Final = -1
SKETCHES_KEPT: Final = timedelta(days=31)
_FORGOTTEN_AT_ONCE: Final = 2_000
_KEY: Final = (PROFILES.c.entity, PROFILES.c.key, PROFILES.c.sub)
_COLUMNS: Final = ("entity", "key", "sub", "measured_at", "version", "figures", "history", "anomalies")


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """Facts about a slice's rows; `version` is its table's, or NOT_PUBLISHED if a rule failed (aware time)."""

    slice: Slice
    measured_at: datetime
    version: int
    figures: SliceFigures
    history: History
    anomalies: tuple[Anomaly, ...] = ()


class SliceProfiles:
    """The profiles in one database. All methods raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, profiles: Sequence[tuple[StoredProfile, SliceProfile]]) -> None:
        """Store profiles of slices, replacing earlier ones, in one transaction."""
        rows = [_row(stored, profile) for stored, profile in profiles]
        if rows:
            with self._database.writing() as connection:
                _put(connection, rows)

    def of(self, slices: Iterable[Slice]) -> dict[Slice, StoredProfile]:
        """The profiles of these slices."""
        query, known = select(*(PROFILES.c[name] for name in _COLUMNS)), dict[Slice, StoredProfile]()
        with self._database.reading() as connection:
            for are_some in alternatives_of(PROFILES.c, _keys(slices)):
                rows = connection.execute(query.where(are_some))
                known.update((stored.slice, stored) for stored in map(_stored, rows))
        return known

    def mergeable(self, slices: Iterable[Slice]) -> dict[Slice, SliceProfile]:
        """The profiles of these slices whose sketches are still stored."""
        sketches, known = PROFILES.c.sketches, dict[Slice, SliceProfile]()
        query = select(*_KEY, sketches).where(sketches.is_not(None))
        with self._database.reading() as connection:
            for are_some in alternatives_of(PROFILES.c, _keys(slices)):
                for entity, key, sub, encoded in connection.execute(query.where(are_some)):
                    known[Slice(entity, key, sub_of(sub))] = decode_profile(bytes(encoded))
        return known

    def anomalous(self) -> list[StoredProfile]:
        """Slices with anomalies at their last measurement, by entity and time."""
        columns = PROFILES.c
        query = select(*(columns[name] for name in _COLUMNS)).where(columns.anomalies != "")
        with self._database.reading() as connection:
            return [
                _stored(row) for row in connection.execute(query.order_by(columns.entity, columns.key, columns.sub))
            ]

    def forget(self, now: datetime, kept: timedelta) -> int:
        """Delete profiles older than the retention, and sketches after a month; returns the number of rows.

        A limited number at once, so that other writers wait only briefly.
        """
        columns = PROFILES.c
        with self._database.writing() as connection:
            gone = _old(connection, columns.measured_at < microseconds(now - kept))
            for are_some in alternatives_of(columns, gone):
                connection.execute(delete(PROFILES).where(are_some))
            is_old = columns.measured_at < microseconds(now - SKETCHES_KEPT)
            for are_some in alternatives_of(columns, _old(connection, and_(is_old, columns.sketches.is_not(None)))):
                connection.execute(update(PROFILES).values(sketches=None).where(are_some))
        return len(gone)


def _keys(slices: Iterable[Slice]) -> list[tuple[str, str, str]]:
    return [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]


def _old(connection: Connection, condition: ColumnElement[bool]) -> list[tuple[str, str, str]]:
    """Keys of some rows with this condition."""
    rows = connection.execute(select(*_KEY).where(condition).limit(_FORGOTTEN_AT_ONCE))
    return [(entity, key, sub) for entity, key, sub in rows]


def _row(stored: StoredProfile, profile: SliceProfile) -> dict[str, Any]:
    slice_ = stored.slice
    anomalies = [[anomaly.measure, anomaly.actual, anomaly.expected, anomaly.score] for anomaly in stored.anomalies]
    return {
        "entity": slice_.entity,
        "key": slice_.key,
        "sub": sub_text(slice_.sub),
        "measured_at": microseconds(stored.measured_at),
        "version": stored.version,
        "figures": json_text(figures_as_data(stored.figures)),
        "sketches": encode_profile(profile),
        "history": stored.history.value,
        "anomalies": json_text(anomalies) if anomalies else "",
    }


def _stored(row: Any) -> StoredProfile:
    entity, key, sub, measured_at, version, figures, history, anomalies = row
    return StoredProfile(
        Slice(entity, key, sub_of(sub)),
        instant_of(measured_at),
        version,
        figures_from_data(json.loads(figures)),
        History(history),
        tuple(Anomaly(name, actual, expected, float(score)) for name, actual, expected, score in json.loads(anomalies))
        if anomalies
        else (),
    )


def _put(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(PROFILES)
    key = ("entity", "key", "sub")
    new = {name: statement.excluded[name] for name in rows[0] if name not in key}
    connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=new), list(rows))
