"""A change that is in the dead-letter queue is missing: the slices that end behind it are not tagged before a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_statements import NEXT, NOON, SOURCE, TEN
from tests.capture.source.kafka.sent import SentIntake
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, Stream, order
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.long
def test_a_quarantined_change_holds_the_tag_until_it_is_accepted(spark: SparkSession, tmp_path: Path) -> None:
    settings, stream = Settings.at(tmp_path / "data"), Stream("a")
    registry = SnapshotRegistry.at(settings.state_db)
    stream.declare("orders_0", ORDERS, TEN)
    stream.change("orders_0", None, order(1, "1.00", 23), TEN)
    bad = stream.change("orders_0", order(1, "1.00", 23), order(1, "123456789012.00", 23), NOON)
    stream.heartbeat(NEXT)

    def step() -> list[str]:
        Ingestion(spark, settings, [SOURCE], registry, SentIntake({"a": values_of(stream)})).step()
        return [snapshot.slice for snapshot in registry.of("ods_orders")]

    assert step() == []
    (finding,) = HaltedSources(Database.of(settings)).read()
    assert (finding.offset, finding.shard) == (bad, "a.school.orders_0")
    assert str(finding.kind) == "changes are quarantined"
    AcceptedFindings(Database.of(settings)).add("a", bad, NEXT, "lena", "corrected by hand")
    assert step() == ["2026-03-23"]
