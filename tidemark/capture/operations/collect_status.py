"""Collects the status of all captured tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.commits.commit_state import commits
from tidemark.capture.heartbeat.liveness import last_looks
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.capture.operations.table_status import Around, TableStatus, table_status
from tidemark.capture.source_table import SourceTable, instances_of, topic_of
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings


def table_statuses(
    sources: Sequence[SourceTable], settings: Settings, database: Database | None, now: datetime
) -> list[TableStatus]:
    """The status of each table as of `now` (aware). Without a state store it comes from the table's own log.

    Raises BrokerDownError, TopicMissingError.
    """
    around = Around(_ends(sources, settings), (), now, written=bool(settings.databases.get_secret_value()))
    if database is not None:
        halted, beats = HaltedSources(database).read(), NewestBeats(database).read()
        around = replace(around, halted=halted, beats=beats, looked=last_looks(database))
    return [table_status(source, commits(settings.warehouse / source.name), around) for source in sources]


def _ends(sources: Sequence[SourceTable], settings: Settings) -> Mapping[str, int]:
    """The end of each instance's topic; empty without Kafka."""
    if not settings.kafka:
        return {}
    from tidemark.capture.source.kafka.broker_offsets import Broker  # noqa: PLC0415 - loads Kafka's client

    instances = instances_of(sources)
    bounds = Broker(settings.kafka).bounds([topic_of(name) for name in instances])
    return {name: bounds[topic_of(name)].high for name in instances}
