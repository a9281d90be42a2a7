"""A table with a `source:` in a small warehouse: what its probe sees of a slice, and what is copied then."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import computer
from tests.crawl.source_world import KnownCounts, KnownMaterializations
from tidemark.crawl.all_probes import look_at
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
from tidemark.delta.delta_rs_table import read_partition
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.warehouse.warehouse import Warehouse

NAME, OUTSIDE = "ods_orders", "ods_orders_source"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


class CopiedTable:
    """`ods_orders`, declared by some lines of YAML on the clock of Paris."""

    def __init__(self, folder: Path, yaml: str, query: str = "") -> None:
        self.warehouse: Warehouse = small_warehouse(folder, {NAME: (yaml, query)})

    def look(self, key: str, now: datetime = NOW) -> Sight:
        """What the probe sees of a slice."""
        warehouse = self.warehouse
        probe = warehouse.entities[OUTSIDE].probe
        assert probe is not None
        secrets = ConnectionSecrets.of(warehouse.settings, os.environ)
        context = ProbeContext(secrets, lambda: now, KnownMaterializations(), KnownCounts(), 10)
        return look_at(probe, ProbedSlice.of(warehouse.graph, Slice(OUTSIDE, key)), context)

    def copy(self, spark: SparkSession, key: str) -> bool:
        """Copy what the probe sees; whether it was published."""
        sight = self.look(key)
        assert sight.is_there, sight.why
        return self.compute(spark, key, sight.version or "")

    def compute(self, spark: SparkSession, key: str, version: str = "") -> bool:
        """Copy what is there of a slice that was seen at a version; whether it was published."""
        slice_ = Slice(NAME, key)
        used = (UsedSlice(Slice(OUTSIDE, key), 1, version),)
        manifest = SliceManifest(slice_, "completed", (ManifestClause(OUTSIDE, Reason.ALL, used),))
        (done,) = computer(spark, self.warehouse).compute([slice_], {slice_: manifest})
        return done.is_published

    def rows(self, partition: dict[str, date | str]) -> list[dict[str, Any]]:
        """The copied rows of a partition, without the columns of its time."""
        stored = read_partition(self.warehouse.table_path(NAME), partition).to_pylist()
        return sorted((dict(row) for row in stored), key=str)
