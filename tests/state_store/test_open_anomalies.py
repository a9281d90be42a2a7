"""Which anomalies count, in both databases, against the rule said slice by slice."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.state_store.examples import NOON
from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.open_anomalies import open_anomalies
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles, StoredProfile

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

FEW = Anomaly("rows", "1", "2", 9.0)
PARTS = ((), (("region", "eu"),))


def counts(stored: StoredProfile, known: list[StoredProfile], fresh: timedelta) -> bool:
    is_followed = any(
        (later.slice.entity, later.slice.sub) == (stored.slice.entity, stored.slice.sub)
        and later.slice.key > stored.slice.key
        and later.measured_at > stored.measured_at
        and later.version != NOT_PUBLISHED
        and not later.anomalies
        and later.history is not History.NONE
        for later in known
    )
    is_told = bool(stored.anomalies) and stored.version != NOT_PUBLISHED
    return is_told and (not is_followed or stored.measured_at >= NOON + fresh)


def test_an_anomaly_counts_until_a_later_slice_is_as_usual(database: Database) -> None:
    chance, profile = random.Random(24), SliceProfile(3, ())
    slices = [Slice(name, f"2026-03-{day}", sub) for name in "ab" for day in range(10, 30) for sub in PARTS]
    known = [
        StoredProfile(
            slice_,
            NOON + timedelta(minutes=chance.randrange(30)),
            chance.choice([4, 5, 6, NOT_PUBLISHED]),
            figures_of(profile),
            chance.choice([History.FULL, History.NONE]),
            (FEW,) if chance.random() < 0.8 else (),
        )
        for slice_ in slices
    ]
    SliceProfiles(database).put([(stored, profile) for stored in known])
    for fresh in (timedelta(minutes=10), timedelta(hours=1)):
        expected = {stored.slice: (FEW,) for stored in known if counts(stored, known, fresh)}
        assert open_anomalies(database, NOON + fresh) == expected
        assert 0 < len(expected) < sum(bool(stored.anomalies) for stored in known)
