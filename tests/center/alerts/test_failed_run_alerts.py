"""Runs that failed for the last time: one alert a reason, over when what failed was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import NOW, CenterWorld
from tidemark.alerts.alert_book import AlertBook
from tidemark.center.alerts import AlertWatch
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = {
    "ext": "{period: day, kind: Virtual}",
    "dwd": "{period: day, depends_on: [ext], notify: [log, hook]}",
    "ads": "{period: day, depends_on: [ext]}",
}


class FailingWorld(CenterWorld):
    """Runs fail, or not, when a test says so; alerts are looked for by hand."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, **DECLARED)
        self.book = AlertBook(self.store.database)
        settings = Settings.at(folder, forecast_seconds="0.000001")
        self.watch = AlertWatch(self.center, self.forecast(), settings, {}, lambda: self.now)
        self.runs = 0

    def run_of(self, name: str, end: str, why: str = "") -> None:
        self.runs += 1
        self.begin(name)
        self.tell(name, end, f"{name} {end} {self.runs}", why=why, run=f"run {self.runs}")

    def begin(self, name: str) -> None:
        slice_, run = Slice.parse(name), f"run {self.runs}"
        if slice_ in self.center.failed_slices():
            self.tell(name, "retried", f"{name} again {self.runs}")
        assert self.center.launch([slice_], run, "default") == [slice_]

    def alerts(self) -> list[str]:
        self.watch.look()
        return [alert.message for alert in self.book.open()]


@pytest.fixture
def world(tmp_path: Path) -> FailingWorld:
    made = FailingWorld(tmp_path)
    for day in ("2024-06-01", "2024-06-02"):
        made.tell(f"ext@{day}", "observed", day)
    return made


def test_an_alert_comes_after_the_last_retry_one_a_reason_and_is_over_with_the_last_slice(world: FailingWorld) -> None:
    world.run_of("dwd@2024-06-01", "failed", "no column amont in 2024-06-01")
    assert world.alerts() == []
    world.run_of("dwd@2024-06-01", "failed", "no column amont in 2024-06-01")
    world.run_of("dwd@2024-06-02", "failed", "no column amont in 2024-06-02")
    world.run_of("dwd@2024-06-02", "failed", "no column amont in 2024-06-02")
    world.run_of("ads@2024-06-02", "failed", "the disk is full")
    world.run_of("ads@2024-06-02", "failed", "the disk is full")
    column, disk = sorted(world.alerts(), key=lambda message: "disk" in message)
    assert column.startswith("dwd@2024-06-01, dwd@2024-06-02 failed: no column amont in 2024-06-0")
    assert disk.startswith("ads@2024-06-02 failed: the disk is full")
    assert "tidemark backfill ads 2024-06-02 --approve" in disk
    world.run_of("dwd@2024-06-02", "completed")
    world.begin("dwd@2024-06-01")
    assert len(world.alerts()) == 2, "what is run again is not over"
    world.tell("dwd@2024-06-01", "completed", "done by hand", run=f"run {world.runs}")
    assert [message[:4] for message in world.alerts()] == ["ads@"]
    over = next(alert for alert in world.book.recent(9) if "column" in alert.cause)
    assert (over.kind.value, over.recovered_at, over.slices) == (
        "failed run",
        NOW,
        ("dwd@2024-06-01", "dwd@2024-06-02"),
    )
