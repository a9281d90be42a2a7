"""A project whose tables are refreshed at recorded targets, and what happens to its slices."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tests.project import write_project
from tests.state_store.examples import chain
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.refresh.delivery import RefreshAction, SliceStanding
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import SliceStatus
from tidemark.refresh.errors import TargetDownError, TargetRefusedError
from tidemark.refresh.refreshed_slice import RefreshedSlice
from tidemark.refresh.refresher import Refresher, RefreshReport
from tidemark.state_store.slice_deliveries import SliceDeliveries
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.refresh.delivery import SliceDelivery
    from tidemark.refresh.refreshed_slice import RefreshAdapter

SETTINGS = "time_zone: Europe/Paris\nrefresh_targets: {cache: {kind: redis}}\n"
DECLARED = {
    "project.yaml": "start: 2026-03-23\nowner: o@s.example\n",
    "dwd/sales.yaml": 'period: day\nrefresh: [{target: cache, keys: ["s:{day}"]}]\n',
    "dwd/sales.sql": "SELECT 1 AS id, :biz_date AS day\n",
    "dwd/other.yaml": "period: day\n",
    "dwd/other.sql": "SELECT 1 AS id, :biz_date AS day\n",
}
BEGUN = datetime(2026, 3, 30, tzinfo=UTC)
NOWHERE: Final = Path("/nowhere")
COMPLETED = "released launched started completed quality_passed"
AGAIN = "backfill_requested released launched started backfilled quality_passed"


@dataclass
class RecordingTarget:
    """What it was asked for, as (slice, action, generation); it may be down, and refuse slices."""

    got: list[tuple[str, str, int]] = field(default_factory=list)
    is_down: bool = False
    refuses: set[str] = field(default_factory=set)

    def deliver(self, refreshed: RefreshedSlice) -> None:
        if self.is_down:
            raise TargetDownError.of("cache", "ConnectionError")
        if str(refreshed.slice) in self.refuses:
            raise TargetRefusedError.of("cache", "no")
        self.got.append((str(refreshed.slice), refreshed.standing.action.value, refreshed.standing.generation))


@dataclass
class RefreshedProject:
    """`now` is what the refresher takes for the time."""

    root: Path
    warehouse: Warehouse
    store: StateStore
    target: RecordingTarget = field(default_factory=RecordingTarget)
    now: datetime = BEGUN

    @classmethod
    def at(cls, folder: Path, declared: Mapping[str, str] = DECLARED, settings: str = SETTINGS) -> Self:
        root = write_project(folder / "project", declared, settings)
        return cls.opened(root)

    @classmethod
    def opened(cls, root: Path) -> Self:
        """Of a project that is there."""
        loaded = Settings.load({ROOT_VARIABLE: str(root)})
        return cls(root, load_warehouse(loaded), StateStore.of(loaded))

    def happen(self, slice_: Slice, events: str, version: str = "0") -> None:
        """Some events of a slice, from where it stands."""
        last, current = self.store.read.last(), self.store.read.current(slice_)
        status = current.status if current else SliceStatus()
        self.store.write.append(chain(slice_, events, last + 1, status, Facts(snapshot_id=version)), after=last)

    def complete(self, day: str, version: str = "0", entity: str = "sales") -> Slice:
        """The next generation of a day's slice is there."""
        slice_ = Slice(entity, day)
        self.happen(slice_, AGAIN if self.store.read.current(slice_) else COMPLETED, version)
        return slice_

    def refresh(
        self, minutes: float = 20, target: str = "cache", adapter: RefreshAdapter | None = None
    ) -> RefreshReport:
        """One pass, some minutes after the last one."""
        self.now += timedelta(minutes=minutes)
        return Refresher(self.warehouse, self.store, target, adapter or self.target, lambda: self.now).run_pass()

    def delivery(self, slice_: Slice, target: str = "cache") -> SliceDelivery:
        delivery = SliceDeliveries(self.store.database, target, slice_.entity).of(slice_)
        assert delivery is not None
        return delivery


def refreshed_slice(
    made: str,
    region: str = "eu",
    *,
    day: str = "2026-03-29",
    action: RefreshAction = RefreshAction.REFRESH,
    version: str = "",
    table: Path = NOWHERE,
) -> RefreshedSlice:
    """A day and region of `sales`, of which `made` is what `refresh` declares."""
    targets = {"region": [region]}
    text = f"period: day\nstart: 2026-03-23\nsub_partitions: {json.dumps(targets)}\nrefresh: {made}\n"
    entity = parse_entity(text, "sales")
    standing, slice_ = SliceStanding(action, 2, version, 7), Slice("sales", day, (("region", region),))
    return RefreshedSlice.of(DependencyGraph.build([entity]), slice_, standing, table, entity.refresh[0].target)
