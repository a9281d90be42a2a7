"""How many rows other slices have, by the log of the table alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tidemark.compute.input_views import Inputs
from tidemark.compute.rule_surroundings import Surroundings
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles, StoredProfile
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from pathlib import Path

LAST = date(2026, 4, 20)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """The days before LAST: so many rows as they are before it; the one two weeks before is not there."""
    warehouse = small_warehouse(tmp_path)
    days = [LAST - timedelta(days=back) for back in range(1, 29) if back != 14 for _ in range(back)]
    table = pa.table({"region": ["cn"] * len(days), "dt": pa.array(days, pa.date32())})
    write_deltalake(str(warehouse.table_path("totals")), table, partition_by=["dt"])
    database = Database.of(warehouse.settings)
    return Surroundings(object.__new__(Inputs), warehouse, SnapshotRegistry(database), SliceProfiles(database))


def test_other_slices_are_counted(around: Surroundings) -> None:
    last = Slice("totals", LAST.isoformat())
    assert around.rows_before(last) == 1
    assert around.rows_of_same_weekday(last) == 21  # of 7, 21 and 28
    assert around.end_of(last).isoformat() == "2026-04-20T22:00:00+00:00"


def test_a_slice_that_is_not_there_is_not_compared_with(around: Surroundings) -> None:
    assert around.rows_before(Slice("totals", "2026-03-23")) is None  # its start
    assert around.rows_before(Slice("totals", "2026-04-07")) is None  # of the sixth nothing was written
    assert around.rows_of_same_weekday(Slice("totals", "2026-03-25")) is None
    assert around.rows_before(Slice("running", LAST.isoformat())) is None


def test_slices_of_the_same_run_are_compared_as_they_will_be(around: Surroundings) -> None:
    around.now_counted({Slice("totals", "2026-04-19"): 100})
    assert around.rows_before(Slice("totals", LAST.isoformat())) == 100


def test_a_weekday_is_that_of_the_local_clock(around: Surroundings) -> None:
    """Summer time began on 29 March: a week before Monday 30 March is Monday 23, not the Sunday before it."""
    assert around.rows_of_same_weekday(Slice("totals", "2026-03-30")) == 28


def test_profiles_of_the_same_weekday_are_those_published_four_weeks_back(tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path, {"totals": ("period: day\nholidays: FR\n", "SELECT 1 AS n\n")})
    database = Database.of(warehouse.settings)
    profiles = SliceProfiles(database)
    around = Surroundings(object.__new__(Inputs), warehouse, SnapshotRegistry(database), profiles)
    days = [date(2026, 6, 8) - timedelta(days=back) for back in range(1, 60)]
    for day in days:
        profile = SliceProfile(day.toordinal())
        version = NOT_PUBLISHED if day == date(2026, 5, 18) else 1
        stored = StoredProfile(Slice("totals", f"{day}"), datetime.now(UTC), version, figures_of(profile), History.FULL)
        profiles.put([(stored, profile)])
    told = around.profiles_of_same_weekday(Slice("totals", "2026-06-08"))
    expected = [date(2026, 6, 1), date(2026, 5, 11)]  # 25 May is Whit Monday
    assert sorted(dated.profile.rows for dated in told) == sorted(day.toordinal() for day in expected)
    starts = {dated.profile.rows: dated.start for dated in told}
    assert starts[expected[0].toordinal()] == datetime.fromisoformat("2026-06-01T00:00:00+02:00").timestamp()
    assert around.profiles_of_same_weekday(Slice("totals", "2026-05-25")) == []
