"""Two lakes in folders, and a project whose daily table `sales` is replicated from one into the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.project import write_project
from tests.state_store.examples import chain
from tidemark.delta.delta_rs_table import read_rows
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import SliceStatus
from tidemark.replication.bandwidth import Bandwidth
from tidemark.replication.replicator import PassReport, Replicator
from tidemark.state_store.slice_copies import SliceCopies, SliceCopy
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.system.table_location import TableLocation

DECLARED = {
    "dwd/sales.yaml": "period: day\nstart: 2026-03-23\nowner: ann@school.example\nreplicate: [b]\n",
    "dwd/sales.sql": "SELECT 1 AS id, :biz_date AS day\n",
}
BEGUN = datetime(2026, 3, 30, tzinfo=UTC)
COMPLETED = "released launched started completed quality_passed"


@dataclass
class TwoLakes:
    """`now` is what the replication takes for the time."""

    root: Path
    warehouse: Warehouse
    store: StateStore
    now: datetime = BEGUN
    generations: dict[str, int] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path, lake: str = "", replica: str = "") -> Self:
        """In a new project; both lakes are folders unless they are given."""
        there = f"replicas: {{b: {{lake: {replica or 'lake_b'}}}}}\n"
        here = f"warehouse: {lake}\n" if lake else ""
        root = write_project(folder / "project", DECLARED, f"time_zone: Europe/Paris\n{here}{there}")
        return cls.opened(root)

    @classmethod
    def opened(cls, root: Path) -> Self:
        """Of a project that is there."""
        settings = Settings.load({ROOT_VARIABLE: str(root)})
        return cls(root, load_warehouse(settings), StateStore.of(settings))

    def write(self, day: str, rows: dict[str, list[int]], *, files: int = 1) -> int:
        """A day's rows in the place of those before, in so many files; the version that has them."""
        table = pa.table({**rows, "dt": [day] * len(next(iter(rows.values())))})
        path = str(self.source)
        if not DeltaTable.is_deltatable(path):
            write_deltalake(path, table.slice(0, 0), partition_by=["dt"])
        DeltaTable(path).delete(f"dt = '{day}'")
        for part in range(files):
            write_deltalake(path, table.take(list(range(part, table.num_rows, files))), mode="append")
        return DeltaTable(path).version()

    def complete(self, day: str, version: int) -> Slice:
        """The slice of a day is there, in its next generation, with that version."""
        slice_, last = Slice("sales", day), self.store.read.last()
        self.generations[day] = self.generations.get(day, 0) + 1
        told = chain(
            slice_, COMPLETED, last + 1, SliceStatus(generation=self.generations[day]), Facts(snapshot_id=str(version))
        )
        self.store.write.append(told, after=last)
        return slice_

    def report(self, day: str, events: str, why: str = "") -> Slice:
        """Further events of a completed slice, with a reason."""
        slice_, last = Slice("sales", day), self.store.read.last()
        current = self.store.read.current(slice_)
        assert current is not None
        told = chain(slice_, events, last + 1, current.status)
        self.store.write.append([replace(step, why=why or step.why) for step in told], after=last)
        return slice_

    def replicate(self) -> PassReport:
        """One pass, some minutes after the last one."""
        self.now += timedelta(minutes=20)
        (declared,) = self.warehouse.settings.replicas
        place = declared.place(self.root)
        return Replicator(self.warehouse, self.store, place, Bandwidth(None), lambda: self.now).run_pass()

    def copy(self, day: str) -> SliceCopy:
        copy = SliceCopies(self.store.database, "b", "sales").of(Slice("sales", day))
        assert copy is not None
        return copy

    @property
    def source(self) -> Path:
        return self.warehouse.settings.root / "data/warehouse/sales"

    @property
    def replica(self) -> Path:
        return self.root / "lake_b/sales"


def rows_at(path: TableLocation, version: int | None = None) -> list[tuple[object, ...]]:
    """All rows of a table, in order."""
    rows = read_rows(path, version)
    return sorted(map(tuple, (row.values() for row in rows.to_pylist())), key=str)
