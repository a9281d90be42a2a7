"""A shop of two tables, `deliveries` of others and `stock_1d` computed of it, whose runs are played: no Spark."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from tests.project import write_project
from tidemark.backup.make_backup import BackupSource, make_backup
from tidemark.center.center_tick import CenterTick
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidemark.backup.manifest import BackupManifest
    from tidemark.dependency_model.status import RunState

NOW: Final = datetime(2026, 3, 9, 12, tzinfo=UTC)
TABLE: Final = "stock_1d"
DECLARATIONS: Final = {
    "project.yaml": "start: 2026-03-01\n",
    "external/deliveries.yaml": "kind: Virtual\nperiod: day\ncolumns: [id]\n",
    "ads/stock_1d.yaml": "period: day\ndepends_on: [{entity: deliveries, offset: Set 0}]\n",
    "ads/stock_1d.sql": "SELECT 1 AS n\n",
}


@dataclass
class Depot:
    """A project in a folder of its own."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Depot:
        write_project(root, DECLARATIONS, "time_zone: UTC\n")
        home = root / "dagster_home"
        home.mkdir()
        (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        (home / "warehouse_id").write_text("0123")
        (root / "data").mkdir()
        (root / "data" / "warehouse_id").write_text("0123")
        return cls(root)

    @property
    def settings(self) -> Settings:
        state = {name: os.environ[name] for name in ("TIDEMARK_STATE",) if name in os.environ}
        return Settings.load({"TIDEMARK_ROOT": str(self.root), **state})

    @property
    def table(self) -> Path:
        return self.root / "data" / "warehouse" / TABLE

    @property
    def home(self) -> Path:
        return self.root / "dagster_home"

    def write_table(self, day: str, numbers: list[int], *, is_own: bool = True) -> int:
        """What a run does first, or somebody else; returns the version."""
        days = pa.array([date.fromisoformat(day)] * len(numbers), pa.date32())
        rows = pa.table({"dt": days, "n": pa.array(numbers, pa.int64())})
        mark = {"userMetadata": json.dumps({"write": ""})} if is_own else {}
        own = CommitProperties(custom_metadata=mark)
        if DeltaTable.is_deltatable(str(self.table)):
            mode: Any = {"mode": "overwrite", "predicate": f"dt = '{day}'"}
        else:
            mode = {"mode": "append", "partition_by": ["dt"]}
        write_deltalake(str(self.table), rows, commit_properties=own, **mode)
        return DeltaTable(str(self.table)).version()

    def tell_dagster(self, day: str, version: int, rows: int) -> None:
        """What a run does then."""
        metadata = {"delta_version": version, "dagster/row_count": rows}
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            instance.report_runless_asset_event(dg.AssetMaterialization(TABLE, partition=day, metadata=metadata))

    def tick(self) -> None:
        """What the center does at last."""
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            tick = CenterTick(load_warehouse(self.settings), "center")
            tick.tick(instance)
            assert tick.isolated.troubles == {}
            tick.store.close()

    def compute(self, day: str, numbers: list[int]) -> None:
        """A run, from its table to the state store."""
        version = self.write_table(day, numbers)
        self.tell_dagster(day, version, len(numbers))
        self.tick()

    def figures(self) -> list[tuple[str, int]]:
        """The rows of the table, as delta-rs reads them."""
        rows = DeltaTable(str(self.table)).to_pyarrow_table().to_pylist()
        return sorted((str(row["dt"]), row["n"]) for row in rows)

    def states(self) -> dict[str, tuple[RunState, str | None]]:
        """The state and the version of each slice of the table, as the state store has them."""
        tick = CenterTick(load_warehouse(self.settings), "reader")
        currents = [current for current in tick.store.read.everything()[1] if current.slice.entity == TABLE]
        versions = tick.store.read.versions([current.slice for current in currents])
        tick.store.close()
        return {c.slice.key: (c.status.run_state, versions.get(c.slice)) for c in currents}

    def backup(
        self, to: Path, tell: Callable[[str], None] = lambda _: None, *, with_lake: bool = True
    ) -> BackupManifest:
        return make_backup(BackupSource(self.settings, self.home, self.home), to, NOW, tell, with_lake=with_lake)


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Each file with its content."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()
