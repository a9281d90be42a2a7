"""What the catalog says of a slice's rules, profile and completeness."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.catalog.lake import DAYS, NOW, REPORTS, Lake
from tests.dependency_model.world import graph
from tidemark.api.catalog_models import page_model
from tidemark.catalog.past_catalog import PastCatalog
from tidemark.catalog.slice_completeness import SliceCompleteness, slice_completeness
from tidemark.center.fact import Fact
from tidemark.console.catalog_words import completeness_in_words, profile_in_words, rules_in_words, state_in_words
from tidemark.console.main import main
from tidemark.crawl.probed_slice import ProbedSlice
from tidemark.crawl.probes.counted_records import counted_window
from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.database import Database
from tidemark.state_store.record_counts import RecordCount, RecordCounts
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles, StoredProfile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.api.catalog_models import CatalogSliceModel

FIRST, SECOND, THIRD = DAYS
EPOCH = datetime(1970, 1, 1, tzinfo=NOW.tzinfo)
SHOP = "completeness: {time_column: at, sql: [{url: '${SHOP}', table: reports}]}\n"
COUNTED = f"{REPORTS}quality: [{{not_null: [n]}}]\n{SHOP}"
QUERY = "SELECT count(*) AS n FROM sales WHERE dt = :biz_date\n"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path, {"reports": (COUNTED, QUERY)})
    for day in DAYS:
        lake.write(day, [1])
        lake.tell(day, 0, 1, entity="reports")
    return lake


def judge(lake: Lake, text: str, event: Event, why: str) -> None:
    lake.center.report([Fact(f"{text} {event} {lake.now}", Slice.parse(text), event, NOW, "test", why)], strict=True)


def shown(lake: Lake, entity: str) -> dict[str, CatalogSliceModel]:
    return {slice_.slice.partition("@")[2]: slice_ for slice_ in page_model(lake.catalog.page(entity)).slices}


def test_a_slice_says_which_rule_failed_and_which_slices_reach_it(lake: Lake) -> None:
    judge(lake, f"reports@{FIRST}", Event.QUALITY_PASSED, "its checks passed")
    judge(lake, f"reports@{SECOND}", Event.QUALITY_FAILED, "not_null: 2 rows lack a value of n")
    reports = shown(lake, "reports")
    assert [(reports[day].quality, rules_in_words(reports[day])) for day in DAYS] == [
        ("passed", "its checks passed"),
        ("failed", "not_null: 2 rows lack a value of n"),
        ("unknown", ""),
    ]
    assert (reports[SECOND].issues, reports[SECOND].valid) == ([f"reports@{SECOND}"], False)
    assert [state_in_words(reports[day]) for day in DAYS[:2]] == ["completed", "completed, invalid"]


def test_a_slices_run_is_not_a_result_of_its_rules(lake: Lake) -> None:
    judge(lake, f"reports@{FIRST}", Event.QUALITY_PASSED, "its checks passed")
    told = shown(lake, "reports")[FIRST]
    for run, rules in ((None, "run "), ("17", "run 17")):
        of_run = told.model_copy(update={"run_id": run, "rules": rules, "issues": ["other@1"], "tainted": True})
        assert rules_in_words(of_run) == "invalid because of other@1"
        assert state_in_words(of_run) == "completed, invalid, tainted"


def test_results_of_an_earlier_quality_are_not_shown(lake: Lake) -> None:
    judge(lake, f"reports@{FIRST}", Event.QUALITY_FAILED, "not_null: 2 rows lack a value of n")
    then, lake.now = lake.now, lake.now + timedelta(hours=1)
    judge(lake, f"reports@{FIRST}", Event.QUALITY_IGNORED, "these two will do")
    assert shown(lake, "reports")[FIRST].rules == "these two will do"
    lake.center.report([Fact("again", Slice("reports", FIRST), Event.BACKFILL_REQUESTED, NOW, "test")], strict=True)
    lake.tell(FIRST, 1, 1, entity="reports")
    assert (shown(lake, "reports")[FIRST].quality, shown(lake, "reports")[FIRST].rules) == ("unknown", "")
    past = PastCatalog(lake.warehouse.graph, lake.store.database, then + timedelta(minutes=1)).page("reports")
    before = {slice_.slice.key: slice_ for slice_ in past.slices}[FIRST]
    assert (before.details.rules, before.issues) == ("not_null: 2 rows lack a value of n", (f"reports@{FIRST}",))


def put(lake: Lake, day: str, version: int, *anomalies: Anomaly) -> None:
    profile = SliceProfile(7, (ColumnProfile("n", ColumnKind.NUMBER, 7, "1", "9"),))
    history = History.FULL if anomalies else History.NONE
    stored = StoredProfile(Slice("reports", day), NOW, version, figures_of(profile), history, anomalies)
    SliceProfiles(lake.store.database).put([(stored, profile)])


def test_a_stored_profile_is_shown(lake: Lake) -> None:
    put(lake, FIRST, 0)
    put(lake, SECOND, NOT_PUBLISHED, Anomaly("rows", "7", "70", 9.0))
    reports = shown(lake, "reports")
    assert [profile_in_words(reports[day].profile) for day in DAYS] == [
        "measured (1 columns, history: none)",
        "7 rows, not published; rows: 7, expected about 70",
        "",
    ]


def test_completeness_is_shown_if_records_are_counted(lake: Lake) -> None:
    at = int((datetime.fromisoformat(f"{SECOND}T00:30:00+01:00") - EPOCH) / timedelta(minutes=1))
    counts = [RecordCount("reports", at, "source", "shop", 40), RecordCount("reports", at, "lake", "commit", 39)]
    RecordCounts(lake.store.database).report(counts, {"reports": at + 1440})
    reports = shown(lake, "reports")
    assert [completeness_in_words(reports[day].completeness) for day in DAYS] == [
        "complete: 0 records",
        "39 of 40 records, 1 of 288 slots open",
        "0 of 0 records, 282 of 288 slots open",
    ]
    assert shown(lake, "sales")[FIRST].completeness is None


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    counts=st.dictionaries(
        st.tuples(st.integers(-90, 60 * 27), st.sampled_from(["source", "lake"]), st.sampled_from("ab")),
        st.integers(0, 30_000),
        max_size=12,
    ),
    final=st.integers(-100, 60 * 30),
    grid=st.tuples(st.sampled_from([1, 5, 10, 7, 60]), st.integers(0, 70)),
    period=st.sampled_from(["hour", "day", "10min"]),
)
def test_details_of_a_page_equal_those_of_each_slice_alone(
    database: Database, counts: dict[Any, int], final: int, grid: tuple[int, int], period: str
) -> None:
    """The slow reference is what `tidemark completeness` asks, slice by slice; a day on which clocks are changed."""
    name = uuid.uuid4().hex
    declared = f"{{of: {name}, slot_minutes: {grid[0]}, phase: {grid[1]}}}"
    world = graph(clicks=f"{{kind: Virtual, period: {period}, probe: {{counts: {declared}}}}}")
    probe = world.entity("clicks").probe
    assert probe is not None
    assert probe.counts is not None
    first = datetime.fromisoformat("2024-03-31T00:00:00+01:00")
    zero, records = int((first - EPOCH) / timedelta(minutes=1)), RecordCounts(database)
    rows = [RecordCount(name, zero + at, side, part, number) for (at, side, part), number in counts.items()]
    records.report(rows, {name: zero + final})
    slices = list(dict.fromkeys(world.slice_at("clicks", first + timedelta(minutes=5 * at)) for at in range(0, 300, 9)))
    expected = {}
    for slice_ in slices:
        alone = counted_window(probe.counts, ProbedSlice.of(world, slice_), records)
        expected[slice_] = SliceCompleteness(alone.source, alone.lake, len(alone.slots), len(alone.open_slots))
    assert slice_completeness(world, database, slices) == expected


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.at(tmp_path / "state.db")
    yield opened
    opened.close()


def test_a_slice_of_before_another_period_was_declared_is_left_out(database: Database) -> None:
    world = graph(clicks="{kind: Virtual, period: hour, probe: {counts: {of: clicks}}}")
    assert slice_completeness(world, database, [Slice("clicks", "2024-W12")]) == {}
    assert slice_completeness(world, database, []) == {}


def test_the_command_has_them_in_each_form(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidemark.warehouse import warehouse

    judge(lake, f"reports@{FIRST}", Event.QUALITY_FAILED, "unique: 2 rows | n")
    put(lake, FIRST, 0, Anomaly("rows", "7", "70", 9.0))
    monkeypatch.setenv("TIDEMARK_DATA", str(lake.warehouse.settings.data))
    monkeypatch.setattr(warehouse, "load_warehouse", lambda _: lake.warehouse)

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["catalog", "reports", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    (told,) = [row for row in json.loads(call("--json"))["slices"] if row["slice"] == f"reports@{FIRST}"]
    assert (told["quality"], told["rules"], told["issues"]) == ("failed", "unique: 2 rows | n", [f"reports@{FIRST}"])
    assert told["profile"]["anomalies"] == [{"measure": "rows", "actual": "7", "expected": "70", "score": 9.0}]
    assert told["completeness"]["is_complete"] is False
    assert "unique: 2 rows | n\trows: 7, expected about 70\t0 of 0 records" in call()
    assert "| unique: 2 rows \\| n | rows: 7, expected about 70 | 0 of 0 records" in call("--markdown")
