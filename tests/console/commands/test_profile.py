"""`profile`: what is stored of a slice, beside the weeks before; a longer period is merged of its slices."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from benchmarks.profile.sketched import distinct_sketch, frequent_sketch, quantile_sketch
from tests.project import write_project
from tidemark.console.main import main
from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.slice_profiles import SliceProfiles, StoredProfile
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

SUNDAY = date(2026, 3, 29)
NOW = datetime(2026, 3, 30, tzinfo=UTC)
DECLARED = {
    "ads/totals.yaml": "period: day\nstart: 2026-01-01\n",
    "ads/totals.sql": "SELECT 1 AS n\n",
    "ads/clicks.yaml": "period: hour\nstart: 2026-01-01\n",
    "ads/clicks.sql": "SELECT 1 AS n\n",
}


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SliceProfiles:
    root = write_project(tmp_path / "project", DECLARED, "time_zone: UTC\n")
    monkeypatch.setenv("TIDEMARK_ROOT", str(root))
    return SliceProfiles(Database.of(Settings.load()))


def put(profiles: SliceProfiles, slice_: Slice, numbers: list[int], *anomalies: Anomaly) -> None:
    texts = [f"city {number % 3}" for number in numbers]
    number = ColumnProfile(
        "n",
        ColumnKind.NUMBER,
        len(numbers),
        str(min(numbers)),
        str(max(numbers)),
        distinct_sketch(numbers),
        quantile_sketch(numbers),
    )
    text = ColumnProfile(
        "city", ColumnKind.TEXT, len(texts), min(texts), max(texts), None, None, frequent_sketch(texts)
    )
    profile = SliceProfile(len(numbers) + 1, (number, text))
    stored = StoredProfile(slice_, NOW, 7, figures_of(profile), History.FULL if anomalies else History.NONE, anomalies)
    profiles.put([(stored, profile)])


def told(*arguments: str, exit_code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["profile", *arguments, "--json"])
    assert result.exit_code == exit_code, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_slice_is_shown_with_the_same_weekday_of_the_weeks_before(profiles: SliceProfiles) -> None:
    for ago in range(1, 30):
        slice_ = Slice("totals", f"{SUNDAY - timedelta(days=ago)}")
        put(profiles, slice_, list(range(10 if ago % 7 == 0 else 99)))
    put(profiles, Slice("totals", "2026-03-29"), list(range(1, 9)))
    answer = told("totals", "2026-03-29")
    assert (answer["rows"], answer["usual_rows"], answer["anomalies"], answer["merged_from"]) == (9, 11, [], [])
    number, city = answer["columns"]
    assert (number["minimum"], number["maximum"]) == ("1", "8")
    assert number["quantiles"]["0.5"] in (4.0, 5.0)
    assert number["nulls"] == pytest.approx(1 / 9)
    assert number["usual_distinct"] == pytest.approx(10, rel=0.01)
    assert city["frequent"][0] == {"value": "city 1", "rows": 3}


def test_an_anomaly_is_shown_and_sets_the_exit_code(profiles: SliceProfiles) -> None:
    put(profiles, Slice("totals", "2026-03-29"), [1, 2], Anomaly("rows", "3", "5,000", 40.0))
    assert told("totals", "2026-03-29", exit_code=1)["anomalies"][0]["expected"] == "5,000"
    text = CliRunner().invoke(main, ["profile", "totals", "2026-03-29"]).stdout
    assert "rows: 3, expected about 5,000" in text
    assert "33.33%" in text
    status = CliRunner().invoke(main, ["status", "--all"]).stdout
    assert "totals@2026-03-29 is unusual: rows: 3, expected about 5,000" in status


def test_a_day_of_an_hourly_table_is_merged_of_its_hours(profiles: SliceProfiles) -> None:
    for hour in range(24):
        put(profiles, Slice("clicks", f"2026-03-29T{hour:02}"), [hour, hour + 1])
    answer = told("clicks", "2026-03-29")
    assert (answer["rows"], len(answer["merged_from"])) == (72, 24)
    assert (answer["columns"][0]["minimum"], answer["columns"][0]["maximum"]) == ("0", "24")
    assert answer["columns"][0]["distinct"] == pytest.approx(25, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("totals", "2026-03-29"), "this slice has no profile"),
        (("clicks", "2026-03-29"), "missing: clicks@2026-03-29T01"),
        (("totals", "yesterday"), "yesterday"),
        (("nothing", "2026-03-29"), "nothing"),
    ],
)
def test_a_missing_profile_is_a_clear_error(profiles: SliceProfiles, arguments: tuple[str, ...], expected: str) -> None:
    put(profiles, Slice("clicks", "2026-03-29T00"), [1])
    result = CliRunner().invoke(main, ["profile", *arguments])
    assert result.exit_code == 1
    assert expected in result.stderr + result.stdout
