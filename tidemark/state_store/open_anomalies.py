"""Slices with anomalies that are published nevertheless, for alerts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from sqlalchemy import exists, or_, select

from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import PROFILES
from tidemark.state_store.slice_profiles import NOT_PUBLISHED
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.state_store.database import Database

AT_ONCE: Final = 1_000


def open_anomalies(database: Database, fresh_since: datetime) -> dict[Slice, tuple[Anomaly, ...]]:
    """Anomalies by slice, at most the 1,000 slices that were measured last.

    A slice counts until a later slice of the same entity and part is measured without an anomaly. A slice that was
    measured since `fresh_since` (aware) always counts. Rows that were not published failed a rule, and are reported as
    such. Raises StateStoreDownError.
    """
    columns, later = PROFILES.c, PROFILES.alias("later")
    is_followed = exists().where(
        later.c.entity == columns.entity,
        later.c.key > columns.key,
        later.c.sub == columns.sub,
        later.c.measured_at > columns.measured_at,
        later.c.version != NOT_PUBLISHED,
        later.c.anomalies == "",
        later.c.history != History.NONE.value,
    )
    query = (
        select(columns.entity, columns.key, columns.sub, columns.anomalies)
        .where(columns.anomalies != "", columns.version != NOT_PUBLISHED)
        .where(or_(columns.measured_at >= microseconds(fresh_since), ~is_followed))
        .order_by(columns.measured_at.desc())
        .limit(AT_ONCE)
    )
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return {
        Slice(entity, key, sub_of(sub)): tuple(Anomaly(*fields) for fields in json.loads(anomalies))
        for entity, key, sub, anomalies in reversed(rows)
    }
