"""Profiles of slices, as the runs that computed or checked them measured them (C9).

A run writes them itself: the sketches of a slice are too big for an event log, and tell nothing that decides anything
about the slice. The same slice again replaces what was there. Figures are kept as long as transitions are, sketches,
which only merge, a month.
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
    """What is known of a slice's rows; `version` is its table's, NOT_PUBLISHED where they broke a rule (aware time)."""

    slice: Slice
    measured_at: datetime
    version: int
    figures: SliceFigures
    history: History
    anomalies: tuple[Anomaly, ...] = ()


class SliceProfiles:
    """The profiles in one database. All raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, profiles: Sequence[tuple[StoredProfile, SliceProfile]]) -> None:
        """Keep profiles of slices in place of those that they had, in one transaction."""
        rows = [_row(stored, profile) for stored, profile in profiles]
        if rows:
            with self._database.writing() as connection:
                _put(connection, rows)

    def of(self, slices: Iterable[Slice]) -> dict[Slice, StoredProfile]:
        """What is known of these slices."""
        query, known = select(*(PROFILES.c[name] for name in _COLUMNS)), dict[Slice, StoredProfile]()
        with self._database.reading() as connection:
            for are_some in alternatives_of(PROFILES.c, _keys(slices)):
                rows = connection.execute(query.where(are_some))
                known.update((stored.slice, stored) for stored in map(_stored, rows))
        return known

    def mergeable(self, slices: Iterable[Slice]) -> dict[Slice, SliceProfile]:
        """The profiles of these slices with their sketches, where these are still kept."""
        sketches, known = PROFILES.c.sketches, dict[Slice, SliceProfile]()
        query = select(*_KEY, sketches).where(sketches.is_not(None))
        with self._database.reading() as connection:
            for are_some in alternatives_of(PROFILES.c, _keys(slices)):
                for entity, key, sub, encoded in connection.execute(query.where(are_some)):
                    known[Slice(entity, key, sub_of(sub))] = decode_profile(bytes(encoded))
        return known

    def anomalous(self) -> list[StoredProfile]:
        """The slices that had anomalies when they were last measured, by entity and time."""
        columns = PROFILES.c
        query = select(*(columns[name] for name in _COLUMNS)).where(columns.anomalies != "")
        with self._database.reading() as connection:
            return [
                _stored(row) for row in connection.execute(query.order_by(columns.entity, columns.key, columns.sub))
            ]

    def forget(self, now: datetime, kept: timedelta) -> int:
        """Forget what was measured longer ago than is kept, and sketches after a month; returns how many rows went.

        At most some at once: others who write wait no longer than for these.
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
    """The keys of some rows for which this holds."""
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
