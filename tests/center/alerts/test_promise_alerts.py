"""Promises at risk become alerts: one a cause, told once, kept while it wavers, taken back once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.center.baseline.baseline_world import BaselineWorld
from tidemark.alerts.alert import AlertKind
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.outbox import Outbox
from tidemark.center.alerts.promise_troubles import promise_troubles
from tidemark.center.baseline import CenterForecast
from tidemark.center.pools import Pools

if TYPE_CHECKING:
    from pathlib import Path

TEN = [f"ads_{letter}" for letter in "abcdefghij"]
LATE = "ext@2024-06-11 has not arrived in its usual time"
COMPANY = {
    "ext": "{period: day, time_zone: UTC, kind: Virtual}",
    "other": "{period: day, time_zone: UTC, kind: Virtual}",
    "dwd": "{period: day, time_zone: UTC, depends_on: [ext]}",
    **{
        name: f'{{period: day, time_zone: UTC, depends_on: [dwd], ready_by: "03:00", notify: [{name}]}}' for name in TEN
    },
    "ads_z": '{period: day, time_zone: UTC, depends_on: [dwd, other], ready_by: "03:00", notify: [z]}',
}


@dataclass
class Watched:
    """A company with eleven promises, six days of history, and alerts that are looked for by hand."""

    world: BaselineWorld
    forecast: CenterForecast = field(init=False)
    book: AlertBook = field(init=False)

    def __post_init__(self) -> None:
        self.forecast = CenterForecast(self.world.center, Pools({"default": 20}), lambda: self.world.now)
        self.book = AlertBook(self.world.store.database)

    def look(self, day: int, hour: int, minute: int = 0) -> None:
        self.world.at(day, hour, minute)
        self.world.center.tick()
        center, judged = self.world.center, self.forecast.judge()
        alerts = self.book.open(AlertKind.BASELINE)
        found_now = promise_troubles(judged.open, alerts, center.graph, center.status)
        self.book.reconcile(AlertKind.BASELINE, found_now, judged.now)

    def arrive(self, name: str, day: int, hour: int, minute: int = 0) -> None:
        self.world.at(day, hour, minute)
        self.world.report(f"{name}@2024-06-{day - 1:02}", "observed")

    def run(self, name: str, day: int, hour: int, minute: int, took: int) -> None:
        self.world.at(day, hour, minute)
        self.world.launch(f"{name}@2024-06-{day - 1:02}")
        self.world.now += timedelta(minutes=took)
        self.world.report(f"{name}@2024-06-{day - 1:02}", "completed")

    def causes(self) -> list[tuple[str, int]]:
        return [(alert.cause, len(alert.slices)) for alert in self.book.open()]

    def told(self) -> list[str]:
        every = [*self.book.open(), *self.book.recent(9)]
        return sorted(
            f"{delivery.alert.cause}: {delivery.event.value}"
            for delivery in Outbox(self.world.store.database).of(every)
        )


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    company = Watched(BaselineWorld(tmp_path, **COMPANY))
    for day in range(6, 12):
        company.arrive("ext", day, 0, 20)
        company.arrive("other", day, 0, 20)
        company.run("dwd", day, 0, 20, 20)
        for name in (*TEN, "ads_z"):
            company.run(name, day, 0, 40, 20)
    return company


def test_one_delay_that_endangers_eleven_promises_is_one_alert_that_names_all(watched: Watched) -> None:
    watched.look(12, 0, 10)
    assert watched.causes() == []
    for minutes in (0, 5, 10):
        watched.look(12, 2, 25 + minutes)
    (alert,) = watched.book.open()
    assert (alert.cause, alert.raised_at.hour) == (LATE, 2)
    assert set(alert.slices) == {f"{name}@2024-06-11" for name in (*TEN, "ads_z")}
    assert alert.message.startswith(f"{LATE} (2:")
    assert all(f"{name}@2024-06-11 (" in alert.message for name in TEN)
    assert "by 06-12 03:00, predicted 06-12 0" in alert.message
    assert watched.told() == [f"{LATE}: raised"] * 11


def test_it_recovers_once_its_promises_are_there_and_stays_while_they_are_late(watched: Watched) -> None:
    watched.look(12, 2, 25)
    watched.arrive("ext", 12, 2, 50)
    watched.arrive("other", 12, 2, 50)
    watched.run("dwd", 12, 2, 50, 20)
    watched.look(12, 3, 12)
    assert watched.causes() == [(LATE, 11)]
    for name in (*TEN, "ads_z"):
        watched.run(name, 12, 3, 12, 10)
    watched.look(12, 3, 30)
    watched.look(12, 3, 31)
    assert watched.causes() == []
    assert watched.told() == [f"{LATE}: raised"] * 11 + [f"{LATE}: recovered"] * 11


def test_another_cause_is_another_alert(watched: Watched) -> None:
    watched.look(12, 2, 25)
    watched.arrive("ext", 12, 2, 26)
    watched.run("dwd", 12, 2, 26, 1)
    for name in TEN:
        watched.run(name, 12, 2, 27, 1)
    watched.look(12, 2, 40)
    assert watched.causes() == [("other@2024-06-11 has not arrived in its usual time", 1)]
    assert f"{LATE}: recovered" in watched.told()


def test_what_is_missed_for_days_stays_open(watched: Watched) -> None:
    watched.look(12, 2, 25)
    watched.look(14, 2, 0)
    assert {cause for cause, _ in watched.causes()} >= {LATE}
    held = next(alert for alert in watched.book.open() if alert.cause == LATE)
    assert "ads_a@2024-06-11 (over, for more than a day)" in held.message


def test_without_promises_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = BaselineWorld(tmp_path, ext=COMPANY["ext"], dwd=COMPANY["dwd"])
    monkeypatch.setattr("tidemark.center.baseline.center_forecast.timings", None)
    judged = CenterForecast(world.center, Pools({"default": 1}), lambda: world.now).judge()
    assert (judged.promised, judged.open) == ((), ())


def test_the_history_that_grows_is_the_one_that_is_read_anew(watched: Watched) -> None:
    """The oracle: a forecast that reads everything, after each step."""
    for hour, minute in ((0, 10), (0, 30), (2, 25)):
        watched.world.at(12, hour, minute)
        if minute == 30:
            watched.arrive("ext", 12, 0, 30)
            watched.run("dwd", 12, 0, 30, 45)
        fresh = CenterForecast(watched.world.center, Pools({"default": 20}), lambda: watched.world.now)
        assert watched.forecast.judge() == fresh.judge()
