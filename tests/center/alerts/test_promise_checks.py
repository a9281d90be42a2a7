"""The check `baseline` of a promised slice's partition, in a real Dagster storage: failed, passed, and failed again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.event_api import PartitionKeyFilter

from tests.center.alerts.test_promise_alerts import LATE, Watched
from tests.center.baseline.baseline_world import BaselineWorld
from tidemark.alerts.alert import AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook
from tidemark.center.alerts.promise_checks import PromiseChecks
from tidemark.center.alerts.promise_troubles import promise_troubles
from tidemark.dependency_model.baseline.promise import BASELINE_CHECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tidemark.center.baseline import Baseline

SLICE, DAY = "ads@2024-06-11", "2024-06-11"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


class Shown:
    """A promise that is put at risk and back, as one process after the other tells Dagster."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.watched, self.instance = Watched(BaselineWorld(folder)), instance
        self.book = AlertBook(self.watched.world.store.database)
        self.restart()

    def restart(self) -> None:
        self.checks = PromiseChecks(self.book, self.watched.world.graph)

    def put(self, causes: dict[str, str], promises: Sequence[Baseline] = ()) -> int:
        """`causes` by slice; how much Dagster was told."""
        by_cause = {cause: tuple(name for name in causes if causes[name] == cause) for cause in causes.values()}
        troubles = [Trouble(cause, cause, slices, ()) for cause, slices in by_cause.items()]
        self.book.reconcile(AlertKind.BASELINE, troubles, self.watched.world.now)
        self.checks.put(self.book.open(AlertKind.BASELINE), promises, causes)
        return self.checks.report(self.instance)

    def results(self, day: str = DAY) -> list[dg.AssetCheckEvaluation]:
        """The newest first."""
        key, of_day = dg.AssetCheckKey(dg.AssetKey(["ads"]), BASELINE_CHECK), PartitionKeyFilter(key=day)
        log = self.instance.event_log_storage
        told = [
            record.event.dagster_event.asset_check_evaluation_data
            for record in log.get_asset_check_execution_history(key, limit=9, partition_filter=of_day)
            if record.event and record.event.dagster_event
        ]
        return told


@pytest.fixture
def shown(tmp_path: Path, instance: dg.DagsterInstance) -> Shown:
    return Shown(tmp_path, instance)


def test_it_fails_passes_and_fails_again_each_told_once(shown: Shown) -> None:
    assert (shown.put({}), shown.put({SLICE: LATE}), shown.put({SLICE: LATE})) == (0, 1, 0)
    assert [result.passed for result in shown.results()] == [False]
    shown.restart()
    assert (shown.put({SLICE: LATE}), shown.put({}), shown.put({})) == (0, 1, 0)
    assert [result.passed for result in shown.results()] == [True, False]
    assert shown.put({SLICE: LATE}) == 1
    assert [result.passed for result in shown.results()] == [False, True, False]


def test_what_was_told_but_not_noted_is_told_again_in_its_place(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_book: AlertBook, _name: str, _position: str) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as dying:
        dying.setattr(AlertBook, "note", die)
        with pytest.raises(RuntimeError, match="killed"):
            shown.put({SLICE: LATE})
    shown.restart()
    assert shown.put({SLICE: LATE}) == 1
    assert [result.passed for result in shown.results()] == [False]


@pytest.mark.slow
def test_many_are_told_some_at_a_time(shown: Shown) -> None:
    days = [f"2024-05-{day:02}" for day in range(1, 31)]
    shown.watched.world.graph.put(replace(shown.watched.world.graph.entity("ads"), start="2024-01-01"))
    causes = {f"ads@{day}": LATE for day in days}
    told = [shown.put(causes) for _ in range(3)]
    assert told == [20, 10, 0]
    assert all([result.passed for result in shown.results(day)] == [False] for day in days)


def test_it_says_what_is_predicted_and_why_and_draws_the_key_path(shown: Shown) -> None:
    shown.watched.world.live(range(6, 12))
    shown.watched.world.at(12, 1, 30)
    judged = shown.watched.forecast.judge()
    center = shown.watched.world.center
    (trouble,) = promise_troubles(judged.open, (), center.graph, center.status)
    shown.put(dict.fromkeys(trouble.slices, trouble.cause), judged.open)
    (result,) = shown.results()
    assert result.severity is dg.AssetCheckSeverity.ERROR
    assert (result.description or "").startswith(f"over: {LATE} (1:")
    told = {name: value.value for name, value in result.metadata.items()}
    assert told["promised"] == "2024-06-12T02:00:00+00:00"
    assert isinstance(told["predicted_margin_minutes"], float)
    assert told["predicted_margin_minutes"] < 0
    drawing = str(told["key_path"])
    assert drawing.startswith("![key path](data:image/svg+xml,")
    assert all(f"{name}@{DAY}" in drawing for name in ("ext", "dwd", "ads"))
    assert len(drawing) < 1_000
