"""What assets run with: Spark, the snapshots' names, the capture, the OLAP store, each opened when first used."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.capture.ingestion import Ingestion
from resources.capture.preflight.all import require_sound
from resources.delta.clustering.recorder import UsageRecorder
from resources.delta.clustering.usage import usage_log
from resources.olap.open import open_store
from resources.spark.session import spark_session
from resources.state_store.database import Database
from resources.state_store.registry import SnapshotRegistry
from warehouse_assets.compute import Computer

if TYPE_CHECKING:
    from resources.capture.intake import Intake
    from resources.olap.store import OlapStore
    from resources.settings import Settings
    from warehouse_assets.warehouse import Warehouse


@dataclass(frozen=True)
class Runtime:
    """One a process; everything is lazy, so that loading the code location starts no JVM."""

    warehouse: Warehouse

    @functools.cached_property
    def registry(self) -> SnapshotRegistry:
        """Names of snapshots."""
        return SnapshotRegistry(Database.of(self.warehouse.settings))

    @functools.cached_property
    def ingestion(self) -> Ingestion:
        """The capture of every declared source table. Raises PreflightError, before anything is written."""
        settings = self.warehouse.settings
        sources = self.warehouse.source_tables()
        require_sound(settings, sources)
        return Ingestion(spark_session(settings), settings, sources, self.registry, _intake(settings))

    @functools.cached_property
    def olap(self) -> OlapStore:
        """Where ADS slices are published."""
        settings = self.warehouse.settings
        return open_store(settings.olap, settings.data)

    @functools.cached_property
    def usage(self) -> UsageRecorder:
        """What the queries of this process filter by."""
        return UsageRecorder(usage_log(self.warehouse.settings.data))

    def computer(self) -> Computer:
        """A computer with a session of its own."""
        return Computer(spark_session(self.warehouse.settings), self.warehouse, self.registry, self.usage)


def _intake(settings: Settings) -> Intake | None:
    """Where changes come from, if not from files."""
    if not settings.kafka:
        return None
    from resources.capture.kafka.intake import KafkaIntake  # noqa: PLC0415 - loads Kafka's client

    return KafkaIntake.of(settings)
