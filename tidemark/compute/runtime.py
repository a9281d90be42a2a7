"""The resources of assets: Spark, tags of snapshots, the capture, the OLAP store, each opened at its first use."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.operations.preflight.all_checks import require_sound
from tidemark.compute.run_fence import RunFences
from tidemark.compute.slice_computer import Computer
from tidemark.delta.clustering.usage_recorder import UsageRecorder
from tidemark.olap.open_store import open_store
from tidemark.spark.session import spark_session
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.state_store.rule_results import RuleResults
from tidemark.state_store.scan_counts import ScanCounts
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

    from tidemark.capture.source.intake import Intake
    from tidemark.capture.source_table import SourceTable
    from tidemark.olap.store import OlapStore
    from tidemark.state_store.reader import StateReader
    from tidemark.system.settings import Settings
    from tidemark.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Runtime:
    """One for each process. Everything is lazy, so loading the code location starts no JVM."""

    warehouse: Warehouse
    start_spark: Callable[[Settings], SparkSession] = spark_session

    @property
    def spark(self) -> SparkSession:
        """The process's session, started at its first use."""
        return self.start_spark(self.warehouse.settings)

    @functools.cached_property
    def database(self) -> Database:
        """The state store's database, shared in the process."""
        return Database.of(self.warehouse.settings)

    @functools.cached_property
    def state(self) -> StateReader:
        """The state store's slices."""
        return SqlStateReader(self.database)

    @functools.cached_property
    def registry(self) -> SnapshotRegistry:
        """The tags of snapshots."""
        return SnapshotRegistry(self.database)

    @functools.cached_property
    def codes(self) -> CodeRegistry:
        """The code that computed each slice."""
        return CodeRegistry(self.database)

    @functools.cached_property
    def profiles(self) -> SliceProfiles:
        """The profiles of slices."""
        return SliceProfiles(self.database)

    @functools.cached_property
    def results(self) -> RuleResults:
        """The results of rules."""
        return RuleResults(self.database)

    @functools.cached_property
    def fences(self) -> RunFences:
        """The fences of runs."""
        return RunFences(self.warehouse.settings)

    @functools.cached_property
    def ingestion(self) -> Ingestion:
        """The capture of every declared source table. Raises PreflightError before anything is written."""
        return self.ingestion_of(self.warehouse.source_tables())

    def ingestion_of(self, sources: Sequence[SourceTable]) -> Ingestion:
        """The capture of some source tables. Raises PreflightError before anything is written."""
        settings = self.warehouse.settings
        require_sound(settings, sources)
        return Ingestion(self.spark, settings, sources, self.registry, _intake(settings))

    @functools.cached_property
    def olap(self) -> OlapStore:
        """The store to which ADS slices are published."""
        settings = self.warehouse.settings
        return open_store(settings.olap, settings.data)

    @functools.cached_property
    def usage(self) -> UsageRecorder:
        """Records the columns by which queries of this process filter."""
        return UsageRecorder(ScanCounts(self.database))

    def computer(self) -> Computer:
        """A new slice computer with its own session."""
        return Computer(self.spark, self.warehouse, self.registry, self.usage, self.profiles, self.results)


def _intake(settings: Settings) -> Intake | None:
    """The source of changes, if it is not files."""
    if not settings.kafka:
        return None
    from tidemark.capture.source.kafka.intake import KafkaIntake  # noqa: PLC0415 - loads Kafka's client

    return KafkaIntake.of(settings)
