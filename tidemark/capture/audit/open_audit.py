"""Opens an audit of captured tables by the settings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tidemark.capture.audit.audit import SourceAudit
from tidemark.capture.audit.errors import NothingToAuditError
from tidemark.capture.audit.pace import AuditPace
from tidemark.capture.audit.source_reader import SourceReader
from tidemark.capture.heartbeat.source_databases import databases
from tidemark.capture.source.file_intake import FileIntake
from tidemark.capture.source_table import instances_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from tidemark.capture.source.intake import Intake
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings


def readers_of(settings: Settings, sources: Sequence[SourceTable]) -> Mapping[str, SourceReader]:
    """A reader for each instance with an address. Raises DatabaseAddressError, NothingToAuditError."""
    wanted = instances_of(sources)
    addresses = databases(settings.databases.get_secret_value())
    readers = {address.instance: SourceReader(address) for address in addresses if address.instance in wanted}
    if not readers:
        raise NothingToAuditError.of(", ".join(source.name for source in sources))
    return readers


def open_audit(
    start_spark: Callable[[], SparkSession],
    settings: Settings,
    sources: Sequence[SourceTable],
    share: float,
    per_minute: float | None,
    database: Database,
) -> SourceAudit:
    """Open an audit. Raises DatabaseAddressError, NothingToAuditError before Spark starts."""
    readers, pace = readers_of(settings, sources), AuditPace(share, per_minute, time.monotonic)
    return SourceAudit(start_spark(), settings, sources, readers, _intake(settings), pace, database)


def _intake(settings: Settings) -> Intake:
    if not settings.kafka:
        return FileIntake(settings.landing)
    from tidemark.capture.source.kafka.intake import KafkaIntake  # noqa: PLC0415 - loads Kafka's client

    return KafkaIntake.of(settings)
