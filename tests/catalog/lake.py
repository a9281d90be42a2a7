"""A small warehouse whose tables are written by delta-rs: as ours, as ours of before marks, and by strangers."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.catalog.catalog import Catalog
from tidemark.catalog.slice_counts import note_counts
from tidemark.center.center import DependencyCenter
from tidemark.center.detectors.storage import StorageDetector, StorageReport
from tidemark.center.fact import Fact
from tidemark.delta.own_commit import OWN_COMMIT
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NOW: Final = datetime(2026, 4, 1, 12, tzinfo=UTC)
DAYS: Final = ("2026-03-23", "2026-03-24", "2026-03-25")
REPORTS: Final = "period: day\ndepends_on: [{entity: sales, offset: Set 0}]\n"


class Lake:
    """The warehouse, its store, its center, and the table of `sales`, of which `reports` is made."""

    def __init__(self, folder: Path, declared: Mapping[str, tuple[str, str]] | None = None, state: str = "") -> None:
        self.now = NOW
        reports = {"reports": (REPORTS, "SELECT count(*) AS n FROM sales WHERE dt = :biz_date\n")}
        self.warehouse = small_warehouse(folder, declared or reports)
        self.store = StateStore(Database(state)) if state else StateStore.of(self.warehouse.settings)
        self.path = self.warehouse.table_path("sales")
        self.center = DependencyCenter(
            self.warehouse.graph, self.store, since=datetime(2026, 3, 22, tzinfo=UTC), clock=lambda: self.now
        )
        self.detector = self.open_detector()
        self._runs = 0

    def open_detector(self) -> StorageDetector:
        return StorageDetector(self.warehouse, self.center, self.store, clock=lambda: self.now)

    @property
    def catalog(self) -> Catalog:
        note_counts(self.store.database)
        return Catalog(self.warehouse.graph, self.store.database)

    def commit(self, day: str, amounts: Sequence[int], metadata: str = "") -> int:
        """Make these rows the whole content of a day; returns the version."""
        rows = pa.table({"dt": pa.array([date.fromisoformat(day)] * len(amounts), pa.date32()), "amount": amounts})
        properties = CommitProperties(custom_metadata={"userMetadata": metadata}) if metadata else None
        if not DeltaTable.is_deltatable(str(self.path)):
            write_deltalake(
                lake_folder(self.path), rows, partition_by=["dt"], mode="append", commit_properties=properties
            )
        else:
            write_deltalake(
                lake_folder(self.path), rows, mode="overwrite", predicate=f"dt = '{day}'", commit_properties=properties
            )
        return self.version

    @property
    def version(self) -> int:
        return DeltaTable(str(self.path)).version()

    def tell(self, day: str, version: int | None, rows: int | None = None, entity: str = "sales") -> None:
        """A run of the slice ended, and told this."""
        self._runs += 1
        run, slice_ = f"run {self._runs}", Slice(entity, day)
        told = Facts(run_id=run, snapshot_id=None if version is None else str(version), row_count=rows)
        fact = Fact(f"{run} completed", slice_, Event.COMPLETED, self.now, "test", data=told)
        self.center.report([fact], strict=True)

    def write(self, day: str, amounts: Sequence[int], *, marked: bool = True) -> int:
        """As a run of ours does: the commit, and then what it tells."""
        version = self.commit(day, amounts, OWN_COMMIT if marked else "")
        self.tell(day, version, len(amounts))
        return version

    def delete(self, day: str) -> None:
        DeltaTable(str(self.path)).delete(f"dt = '{day}'")

    def restore(self, version: int) -> None:
        DeltaTable(str(self.path)).restore(version)

    def compact(self) -> None:
        DeltaTable(str(self.path)).optimize.compact()

    def append(self, day: str, amounts: Sequence[int]) -> None:
        """As a stranger does."""
        rows = pa.table({"dt": pa.array([date.fromisoformat(day)] * len(amounts), pa.date32()), "amount": amounts})
        write_deltalake(lake_folder(self.path), rows, mode="append")

    def poll(self, *, verify: bool = False) -> StorageReport:
        report = self.detector.poll(verify=verify)
        assert report.troubles == ()
        return report

    def shown(self, text: str) -> str:
        """How a slice stands: `completed`, `absent`, `foreign`, with `tainted` where it is."""
        status = self.center.status(Slice.parse(text))
        word = "foreign" if "foreign" in status.states else status.run_state.value
        return f"{word} tainted" if status.tainted else word

    def rows_of(self, day: str, version: int | None = None) -> list[int]:
        """What a day holds, read by delta-rs."""
        table = DeltaTable(str(self.path), version=version)
        read = table.to_pyarrow_table(filters=[("dt", "=", date.fromisoformat(day))])
        return sorted(read["amount"].to_pylist())

    def log_of(self, version: int) -> list[dict[str, object]]:
        """The actions of a commit."""
        text = lake_folder(self.path / "_delta_log" / f"{version:020d}.json").read_text()
        return [json.loads(line) for line in text.splitlines()]
