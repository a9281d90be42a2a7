"""Profiles in both databases: kept by slice, replaced, merged later, and forgotten in time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from benchmarks.profile.sketched import distinct_sketch, quantile_sketch
from tests.state_store.examples import NOON
from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.slice_profiles import SKETCHES_KEPT, SliceProfiles, StoredProfile

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

KEPT = timedelta(days=90)


def example(key: str = "2026-03-23", rows: int = 3) -> tuple[StoredProfile, SliceProfile]:
    numbers = list(range(1, rows + 1))
    column = ColumnProfile(
        "id", ColumnKind.NUMBER, rows, "1", str(rows), distinct_sketch(numbers), quantile_sketch(numbers)
    )
    profile = SliceProfile(rows, (column,))
    slice_ = Slice("sales", key, (("region", "eu"),))
    return StoredProfile(slice_, NOON, 4, figures_of(profile, {"up": 7}), History.NONE), profile


def test_a_stored_profile_is_read_and_replaced_by_the_next_one(database: Database) -> None:
    profiles = SliceProfiles(database)
    first, second = example(rows=3), example(rows=5)
    profiles.put([first, example("2026-03-24")])
    assert profiles.of([first[0].slice]) == {first[0].slice: first[0]}
    profiles.put([second])
    assert profiles.of([first[0].slice, Slice("sales", "2026-03-25")]) == {first[0].slice: second[0]}
    assert profiles.mergeable([first[0].slice]) == {first[0].slice: second[1]}


def test_slices_with_anomalies_are_found(database: Database) -> None:
    profiles = SliceProfiles(database)
    stored, profile = example()
    told = replace(stored, history=History.FULL, anomalies=(Anomaly("rows", "3", "5", 9.5),))
    profiles.put([(told, profile), example("2026-03-24")])
    assert profiles.anomalous() == [told]
    profiles.put([(stored, profile)])
    assert profiles.anomalous() == []


@pytest.mark.parametrize(
    ("age", "figures_stay", "sketches_stay"),
    [
        (SKETCHES_KEPT - timedelta(seconds=1), True, True),
        (SKETCHES_KEPT + timedelta(seconds=1), True, False),
        (KEPT + timedelta(seconds=1), False, False),
    ],
)
def test_sketches_are_forgotten_after_a_month_and_figures_with_the_transitions(
    database: Database, age: timedelta, *, figures_stay: bool, sketches_stay: bool
) -> None:
    profiles = SliceProfiles(database)
    stored, profile = example()
    profiles.put([(stored, profile)])
    assert profiles.forget(NOON + age, KEPT) == int(not figures_stay)
    assert bool(profiles.of([stored.slice])) is figures_stay
    assert bool(profiles.mergeable([stored.slice])) is sketches_stay
