"""Slices that break a blocking rule: one alert an entity, over when none of them is broken any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import NOW, CenterWorld
from tidemark.alerts.alert_book import AlertBook
from tidemark.center.alerts import AlertWatch
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = {
    "ext": "{period: day, kind: Virtual, quality: [{row_count: {min: 1}}], notify: [log, hook]}",
    "dwd": "{period: day, depends_on: [ext]}",
}


class RuleWorld(CenterWorld):
    """Alerts are looked for by hand; `restart` is a new process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, **DECLARED)
        self.book = AlertBook(self.store.database)
        self.restart()

    def restart(self) -> None:
        settings = Settings.at(self.folder, forecast_seconds="0.000001")
        self.watch = AlertWatch(self.center, self.forecast(), settings, {}, lambda: self.now)

    def judge(self, day: str, event: str, why: str = "", round_: int = 1) -> None:
        self.tell(f"ext@{day}", event, f"{day} {event} {round_}", why=why)

    def alerts(self) -> list[tuple[str, str]]:
        self.watch.look()
        return [(alert.cause, alert.message) for alert in self.book.open()]


@pytest.fixture
def world(tmp_path: Path) -> RuleWorld:
    made = RuleWorld(tmp_path)
    for day in ("2024-06-01", "2024-06-02"):
        made.tell(f"ext@{day}", "observed", day)
    return made


def test_two_slices_of_an_entity_are_one_alert_until_both_are_good(world: RuleWorld) -> None:
    assert world.alerts() == []
    world.judge("2024-06-01", "quality_failed", "0 rows, expected at least 1")
    world.judge("2024-06-02", "quality_failed", "0 rows, expected at least 1")
    cause = "ext breaks a blocking rule"
    ((told, message),) = world.alerts()
    assert told == cause
    assert "ext@2024-06-01 (0 rows, expected at least 1), ext@2024-06-02 (0 rows" in message
    world.judge("2024-06-01", "quality_passed")
    world.restart()
    ((told, message),) = world.alerts()
    assert (told, "ext@2024-06-01" in message, "ext@2024-06-02" in message) == (cause, False, True)
    world.judge("2024-06-02", "quality_passed")
    assert world.alerts() == []
    (over,) = world.book.recent(9)
    assert (over.slices, over.recovered_at) == (("ext@2024-06-01", "ext@2024-06-02"), NOW)


def test_what_was_broken_while_nobody_looked_is_raised(world: RuleWorld) -> None:
    world.judge("2024-06-01", "quality_failed", "0 rows")
    world.judge("2024-06-02", "quality_failed", "0 rows")
    world.judge("2024-06-02", "quality_passed")
    world.restart()
    assert [message for _, message in world.alerts()] == ["a blocking rule of ext failed: ext@2024-06-01 (0 rows)"]
