"""Ten days of a small company: an input of another system at 00:20, two slices of 20 minutes each, one promised."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.center.test_center import CenterWorld
from tidemark.center.baseline import Baselines, RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

COMPANY = {
    "ext": "{period: day, time_zone: UTC, kind: Virtual}",
    "dwd": "{period: day, time_zone: UTC, depends_on: [ext]}",
    "ads": '{period: day, time_zone: UTC, depends_on: [dwd], ready_by: "02:00", owner: data, alert_margin: 5m}',
}


class BaselineWorld(CenterWorld):
    """`at(12, 0, 10)` sets the clock to the twelfth of June, ten past midnight."""

    def __init__(self, folder: Path, **texts: str) -> None:
        super().__init__(folder, **(texts or COMPANY))
        self.declared = DeclaredSlices(self.graph, Pools({"default": 2}))

    def at(self, day: int, hour: int, minute: int = 0) -> None:
        self.now = datetime(2024, 6, day, hour, minute, tzinfo=UTC)

    def report(self, text: str, event: str, **more: object) -> None:
        self.tell(text, event, event_time=self.now, event_id=f"{text} {event} {self.now}", **more)

    def launch(self, text: str) -> None:
        self.center.tick()
        assert self.center.launch([Slice.parse(text)], f"run of {text} {self.now}", "default")

    def live(self, days: range) -> None:
        """These days as they usually are."""
        for day in days:
            key = f"2024-06-{day - 1:02}"
            self.at(day, 0, 20)
            self.report(f"ext@{key}", "observed")
            for name, minute in (("dwd", 20), ("ads", 40)):
                self.at(day, 0, minute)
                self.launch(f"{name}@{key}")
                self.now += timedelta(minutes=20)
                self.report(f"{name}@{key}", "completed")

    def baselines(self) -> Baselines:
        history = RunHistory.read(self.graph, self.store.database, self.now)
        return Baselines(SliceSource(self.declared, self.center.status, history, self.now))
