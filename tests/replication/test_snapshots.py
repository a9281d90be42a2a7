"""Snapshots of a captured table are versions of one log: they come to a replica whole, and in their order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.project import write_project
from tests.replication.lakes import BEGUN, COMPLETED, TwoLakes, rows_at
from tests.state_store.examples import chain
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.slice_copies import CopyState, SliceCopies, SliceCopy
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

DAYS = ("2026-03-26", "2026-03-27", "2026-03-28")
SOURCE = "source: {table: school.orders, instances: [a]}\nkey: [id]\n"
DECLARED = {
    "ods/orders.yaml": f"kind: Snapshot\nperiod: day\nstart: 2026-03-23\nowner: a@b.example\nreplicate: [b]\n{SOURCE}"
}


class CapturedLakes(TwoLakes):
    """A captured table that grows by a row a day."""

    @property
    def table(self) -> Path:
        return self.root / "data/warehouse/orders"

    @property
    def there(self) -> Path:
        return self.root / "lake_b/orders"

    def capture(self, day: str, *ids: int) -> int:
        """A version with rows more, tagged for a day and completed."""
        write_deltalake(str(self.table), pa.table({"id": list(ids)}), mode="append")
        version = DeltaTable(str(self.table)).version()
        registry = SnapshotRegistry(self.store.database)
        registry.tag([TaggedSnapshot("orders", "day", day, version, 0, BEGUN)])
        self.tell(day, 1, version)
        return version

    def tell(self, day: str, generation: int, version: int) -> None:
        slice_, last = Slice("orders", day), self.store.read.last()
        facts = Facts(snapshot_id=str(version))
        told = chain(slice_, COMPLETED, last + 1, SliceStatus(generation=generation), facts)
        self.store.write.append(told, after=last)

    def copy_of(self, day: str) -> SliceCopy:
        copy = SliceCopies(self.store.database, "b", "orders").of(Slice("orders", day))
        assert copy is not None
        return copy


@pytest.fixture
def lakes(tmp_path: Path) -> CapturedLakes:
    settings = "time_zone: Europe/Paris\nreplicas: {b: {lake: lake_b}}\n"
    return CapturedLakes.opened(write_project(tmp_path / "project", DECLARED, settings))


def test_each_snapshot_is_a_version_of_the_replica(lakes: CapturedLakes) -> None:
    for number, day in enumerate(DAYS):
        lakes.capture(day, number, number + 100)
    report = lakes.replicate()
    assert (report.published, report.troubles) == (3, {})
    for number, day in enumerate(DAYS):
        seen = lakes.copy_of(day).published
        assert seen
        assert rows_at(lakes.there, seen.replica_version) == rows_at(lakes.table, seen.version)
        assert len(rows_at(lakes.there, seen.replica_version)) == 2 * (number + 1)


def test_a_snapshot_that_is_retried_holds_later_ones(lakes: CapturedLakes) -> None:
    lakes.capture(DAYS[0], 1)
    (lakes.root / "lake_b").write_text("no folder")
    lakes.replicate()
    lakes.capture(DAYS[1], 2)
    (lakes.root / "lake_b").unlink()
    lakes.now -= timedelta(minutes=20)
    assert lakes.replicate().published == 0
    assert lakes.replicate().published == 2
    assert rows_at(lakes.there) == [(1,), (2,)]


def test_an_older_snapshot_does_not_take_readers_back(lakes: CapturedLakes) -> None:
    version = lakes.capture(DAYS[0], 1)
    lakes.capture(DAYS[2], 2)
    registry = SnapshotRegistry(lakes.store.database)
    lakes.replicate()
    registry.tag([TaggedSnapshot("orders", "day", DAYS[1], version, 0, BEGUN)])
    lakes.tell(DAYS[1], 1, version)
    why = lakes.replicate().troubles[Slice("orders", DAYS[1])]
    assert "the replica already has a newer snapshot of the table" in why
    assert rows_at(lakes.there) == [(1,), (2,)]


def test_a_restated_snapshot_is_not_passed_off_as_its_version(lakes: CapturedLakes) -> None:
    version = lakes.capture(DAYS[0], 1)
    lakes.replicate()
    SnapshotRegistry(lakes.store.database).restate([("orders", "day", DAYS[0])], late_batch=7)
    lakes.tell(DAYS[0], 2, version)
    why = lakes.replicate().troubles[Slice("orders", DAYS[0])]
    assert "with late changes: the replica keeps the generation before" in why
    copy = lakes.copy_of(DAYS[0])
    assert copy.published
    assert (copy.state, copy.published.generation) == (CopyState.FAILED, 1)
