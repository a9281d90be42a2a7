"""The crawl service as the center runs it: what lacks records is shown in Dagster, until it has them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg

from tests.center.test_center import CenterWorld
from tests.until import until
from tidemark.center.outside_world import OutsideWorld
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.record_counts import RecordCount, RecordCounts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOURS = (
    "kind: Virtual\nperiod: hour\nstart: 2024-06-02T22\nend: 2024-06-03\ntime_zone: UTC\n"
    "probe: {counts: {of: clicks}, settle_for: 0s, fresh_for: 1s, late_every: 1s}\n"
)
MINUTE = int(datetime(2024, 6, 2, 22, 7, tzinfo=UTC).timestamp()) // 60
FINAL = MINUTE + 53
"""The end of the first hour; the counts of the second may still change."""
ASSET = dg.AssetKey(["hours"])


def test_a_window_that_lacks_records_is_plotted_once_with_what_is_missing(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, hours=HOURS)
    outside = OutsideWorld(world.center, world.store, ConnectionSecrets({}), lambda name: tmp_path / name)
    counts = RecordCounts(world.store.database)
    told = [RecordCount("clicks", MINUTE + later, "source", "topic-0", 100) for later in (0, 60)]
    counts.report([*told, RecordCount("clicks", MINUTE, "lake", "commit-1", 97)], {"clicks": FINAL})
    with dg.DagsterInstance.ephemeral() as instance:
        _poll(outside, instance, lambda: bool(_observed(instance)))
        begun = outside.figures()["looks"]
        _poll(outside, instance, lambda: outside.figures()["looks"] >= begun + 4)
        (lacking,) = _observed(instance)
        assert lacking == ("2024-06-02-22:00", 100, 97, 97.0, 3)
        counts.report([RecordCount("clicks", MINUTE, "lake", "commit-2", 3)], {})
        first, second = Slice("hours", "2024-06-02T22"), Slice("hours", "2024-06-02T23")
        _poll(outside, instance, lambda: world.center.status(first).run_state is RunState.COMPLETED)
        assert _observed(instance) == [("2024-06-02-22:00", 100, 100, 100.0, 0), lacking]
        assert world.center.status(second).run_state is RunState.WAITING


def _poll(outside: OutsideWorld, instance: dg.DagsterInstance, holds: Callable[[], bool]) -> None:
    def holds_after_a_poll() -> bool:
        outside.poll(instance)
        return holds()

    until(holds_after_a_poll)


def _observed(instance: dg.DagsterInstance) -> list[tuple[Any, ...]]:
    """Partition and figures of each observation, newest first."""
    names = ("source_records", "lake_records", "percent", "missing_records")
    observations = [record.asset_observation for record in instance.fetch_observations(ASSET, limit=10).records]
    return [(seen.partition, *(seen.metadata[name].value for name in names)) for seen in observations if seen]
