"""Two centers with a state store and a lake each, and the same declarations: `a` computes `sales`, `b` stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.project import write_project
from tidemark.center.center import DependencyCenter
from tidemark.center.center_tick import first_start
from tidemark.center.detectors.outside import OutsideDetector
from tidemark.center.fact import Fact
from tidemark.center.outside_world import look_once
from tidemark.center.take_over import TakenOver, TakeOver, TakeOverOrder
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.crawler import Crawler
from tidemark.dependency_model.status import Event
from tidemark.errors import TidemarkError
from tidemark.replication.bandwidth import Bandwidth
from tidemark.replication.replicator import PassReport, Replicator
from tidemark.state_store.record_counts import RecordCounts
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import Settings
from tidemark.warehouse.center_fence import CenterFence
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

OTHER = {"a": "b", "b": "a"}
SALES = "period: day\nstart: 2026-03-23\nowner: ann@school.example\ncenter: a\nreplicate: [b]\n"
DECLARED = {"dwd/sales.yaml": SALES, "dwd/sales.sql": "SELECT 1 AS id, :biz_date AS day\n"}
BEGUN = datetime(2026, 3, 27, 12, tzinfo=UTC)


class OneCenter:
    """One center. `computed` has each slice that its runs published."""

    def __init__(self, name: str, folder: Path, world: TwoCenters) -> None:
        self.name, self._world, self.computed = name, world, list[str]()
        there = OTHER[name]
        text = f"center: {name}\nwarehouse: ../lake_{name}\n"
        text += f"replicas: {{{there}: {{lake: ../lake_{there}, stand_in: true}}}}\n"
        self.settings = Settings.load({ROOT_VARIABLE: str(write_project(folder / f"center_{name}", DECLARED, text))})
        self.store = StateStore.of(self.settings)
        self.restart()

    def restart(self) -> None:
        """All processes of the center begin again, with the roles that its lake gives them."""
        self.warehouse: Warehouse = load_warehouse(self.settings)
        self.fence = CenterFence(self.settings, self.store.database, self._world.clock)
        self.center = DependencyCenter(
            self.warehouse.graph, self.store, since=first_start(self.warehouse), clock=self._world.clock
        )
        self.detector = OutsideDetector(
            Crawler(self._look, lambda _, work: work()), self.center, self.store.database, self._world.clock
        )

    def tick(self) -> None:
        """Look at replicas, release slices, and let runs of all released slices end."""
        self._world.now += timedelta(minutes=1)
        self.center.catch_up()
        self.center.tick()
        with dg.DagsterInstance.ephemeral() as instance:
            for _ in range(3):
                self._world.now += timedelta(minutes=1)
                self.detector.poll(instance)
        for slice_ in self.center.ready():
            if self.fence.may_launch("a"):
                self.begin(slice_)
                self.end(slice_)

    def begin(self, slice_: Slice) -> None:
        assert self.center.launch([slice_], f"{self.name} {slice_}", "default") == [slice_]

    def end(self, slice_: Slice) -> None:
        """A run commits its partition, if the fence lets it, and reports."""
        self.fence.require_may_finish("a")
        path, day = str(self.lake), slice_.key
        rows = pa.table({"id": [1, 2], "by": [self.name, self.name], "dt": [day, day]})
        if DeltaTable.is_deltatable(path):
            write_deltalake(path, rows, mode="overwrite", predicate=f"dt = '{day}'")
        else:
            write_deltalake(path, rows, partition_by=["dt"])
        told = Facts(run_id=f"{self.name} {slice_}", snapshot_id=str(DeltaTable(path).version()))
        fact = Fact(f"{self.name} {slice_}", slice_, Event.COMPLETED, self._world.now, "test", data=told)
        self.center.report([fact], strict=True)
        self.computed.append(slice_.key)

    def replicate(self) -> PassReport:
        """One pass of the replication to the other lake, if this center has anything to send."""
        self._world.now += timedelta(minutes=20)
        (declared,) = self.settings.replicas
        place = declared.place(self.settings.root)
        return Replicator(self.warehouse, self.store, place, Bandwidth(None), self._world.clock).run_pass()

    def take_over(self, *, is_lost: bool, meanwhile: Callable[[], object] = lambda: None, looks: int = 9) -> TakenOver:
        """The command. `meanwhile` is what goes on while it waits, a minute each time."""

        def pause(_: float) -> None:
            self._world.now += timedelta(minutes=1)
            meanwhile()

        order = TakeOverOrder("a", is_lost, "ann", "power failure")
        return TakeOver(self.warehouse, self.store, order, self._world.clock, pause).carry_out(looks)

    def completed(self) -> list[str]:
        """The days that the state store has as complete."""
        return sorted(current.slice.key for current in self.store.read.completed_slices("sales"))

    @property
    def lake(self) -> Path:
        return self.settings.root.parent / f"lake_{self.name}/sales"

    def writers(self) -> dict[str, str]:
        """The center that computed the rows of each day in the lake."""
        rows = DeltaTable(str(self.lake)).to_pyarrow_table().to_pylist()
        assert len(rows) == 2 * len({row["dt"] for row in rows})
        return {row["dt"]: row["by"] for row in sorted(rows, key=lambda row: row["dt"])}

    def _look(self, slice_: Slice) -> Sight:
        secrets, counts = ConnectionSecrets.of(self.settings, {}), RecordCounts(self.store.database)
        return look_once(self.warehouse.graph, slice_, secrets, NoAssets(), counts)


class NoAssets:
    """A replica's probe asks no code location."""

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        raise TidemarkError(f"{asset} {partition}")


@dataclass
class TwoCenters:
    """Both, with one clock."""

    folder: Path
    now: datetime = BEGUN
    a: OneCenter = field(init=False)
    b: OneCenter = field(init=False)

    def __post_init__(self) -> None:
        self.a, self.b = (OneCenter(name, self.folder, self) for name in ("a", "b"))

    def clock(self) -> datetime:
        return self.now
