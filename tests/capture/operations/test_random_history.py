"""Random lives of a database, landed in random pieces with restarts and redeliveries: each snapshot is exact."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.capture.operations.history import Content, ShardedHistory
from tests.capture.streams import Stream
from tests.lake_folder import lake_folder
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_table
from tidemark.dependency_model.time import Calendar, Period
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.settings import Settings

pytestmark = pytest.mark.spark

ORDERS = SourceTable(
    name="ods_orders",
    table="school.orders_*",
    instances=("a", "b"),
    key=("order_id",),
    partition_by="order_date",
    snapshot_series=(("ods_orders", "day", "2026-03-23"),),
)
MANY_HOURS, FEW_HOURS = ("2026-03-25T22", 2 + 24 + 1), ("2026-03-26T21", 3 + 1)
"""The first hour that has a snapshot, and how many have one."""
PARIS = Calendar("Europe/Paris")


def content(spark: SparkSession, path: Path, version: int) -> Content:
    rows = read_table(spark, path, version).collect()
    return {
        (row["_shard"], row["order_id"]): (row["note"], row["amount"], row["order_date"], row.asDict().get("coupon"))
        for row in rows
    }


class Feeder:
    """Lands a stream piece by piece; sometimes the next file begins with what the one before it ended with."""

    def __init__(self, stream: Stream, landing: Path, chance: random.Random) -> None:
        self._stream, self._landing, self._chance = stream, landing, chance
        self._landed = 0

    def land_some(self, share: float) -> None:
        end = min(len(self._stream.lines), self._landed + int(len(self._stream.lines) * share) + 1)
        start = self._landed - (self._chance.randrange(5) if self._landed > 5 else 0)
        if end > self._landed:
            self._stream.land(self._landing, start, end)
            self._landed = end


@pytest.mark.long
@pytest.mark.parametrize(("seed", "hours"), [(1, FEW_HOURS), *((seed, MANY_HOURS) for seed in range(1, 6))])
def test_every_snapshot_is_the_state_at_its_boundary(
    spark: SparkSession, tmp_path: Path, seed: int, hours: tuple[str, int]
) -> None:
    history, chance = ShardedHistory(seed), random.Random(seed)
    orders = replace(ORDERS, snapshot_series=(*ORDERS.snapshot_series, ("ods_orders_1h", "hour", hours[0])))
    settings = Settings.at(tmp_path / "data")
    registry = SnapshotRegistry.at(settings.state_db)
    feeders = [Feeder(stream, settings.landing, chance) for stream in history.streams.values()]
    ingestion = Ingestion(spark, settings, [orders], registry)
    for share in (0.3, 0.3, 0.2, 1):
        for feeder in feeders:
            feeder.land_some(share * chance.random() if share < 1 else 1)
        if chance.random() < 0.5:
            ingestion = Ingestion(spark, settings, [orders], registry)
        ingestion.step()
    check_snapshots(spark, settings, registry, history, hours[1])


def check_snapshots(
    spark: SparkSession, settings: Settings, registry: SnapshotRegistry, history: ShardedHistory, hours: int
) -> None:
    tagged = (*registry.of("ods_orders"), *registry.of("ods_orders_1h"))
    assert [snapshot.slice for snapshot in tagged if snapshot.period == "day"] == [
        "2026-03-23",
        "2026-03-24",
        "2026-03-25",
        "2026-03-26",
    ]
    assert len([snapshot for snapshot in tagged if snapshot.period == "hour"]) == hours
    for version in distinct_versions(tagged):
        expected = history.state_at(PARIS.window(Period.parse(version.period), version.slice).end)
        assert content(spark, lake_folder(settings.warehouse / "ods_orders"), version.version) == expected, version
        assert version.rows == len(expected)
    last = last_commit(settings.warehouse / "ods_orders")
    assert last is not None
    assert last.state.offsets == {f"cdc.{name}": len(stream.lines) for name, stream in history.streams.items()}


def distinct_versions(tagged: tuple[TaggedSnapshot, ...]) -> list[TaggedSnapshot]:
    """The first and the last name of each version: what lies between them is the same."""
    by_version: dict[int, list[TaggedSnapshot]] = {}
    for snapshot in sorted(tagged, key=lambda snapshot: (snapshot.version, snapshot.slice)):
        by_version.setdefault(snapshot.version, []).append(snapshot)
    return [entry for group in by_version.values() for entry in dict.fromkeys((group[0], group[-1]))]
