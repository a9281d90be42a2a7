"""Two hosts of warm workers and a center on a third, with nothing in common but PostgreSQL and a bucket."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.s3_server import BUCKET
from tests.several_hosts.hosts import ENTITIES, SECONDS, SeveralHosts, feed_of, rows_of, several_hosts
from tests.state_store.conftest import empty_database
from tidemark.delta.delta_rs_table import read_partition
from tidemark.delta.open_table import delta_rs_options, open_table
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.store import StateStore
from tidemark.state_store.worker_hosts import WorkerHost, WorkerHosts
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.postgres import Postgres
    from tests.components.s3_server import S3Server

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(int(4 * SECONDS))]


class Observer:
    """What the machines share, as somebody else sees it."""

    def __init__(self, hosts: SeveralHosts, lake: S3Server, instance: dg.DagsterInstance) -> None:
        self.hosts, self.lake, self.instance = hosts, lake, instance
        self.store = StateStore.of(Settings.load(hosts.machines["center"].environment))

    def arrive(self, day: str) -> None:
        """What the slices of a day need is written, and told."""
        for number in range(len(ENTITIES)):
            rows = feed_of(number, day)
            dates = pa.array([date.fromisoformat(day)] * len(rows), pa.date32())
            path = self.lake.location("hosts") / f"feed_{number}"
            table = pa.table({"id": pa.array(rows, pa.int64()), "dt": dates})
            write_deltalake(
                str(path), table, partition_by=["dt"], mode="append", storage_options=delta_rs_options(path)
            )
            self.instance.report_runless_asset_event(dg.AssetMaterialization(f"feed_{number}", partition=day))

    def there(self) -> dict[str, WorkerHost]:
        return {host.name: host for host in WorkerHosts(self.store.database).present()}

    def completed(self, day: str) -> set[str]:
        """Entities whose slice of the day is there, in its first generation."""
        currents = self.store.read.currents([Slice(entity, day) for entity in ENTITIES])
        states = {current.slice.entity: (current.status.run_state, current.status.generation) for current in currents}
        return {entity for entity, state in states.items() if state == (RunState.COMPLETED, 1)}

    def rows(self, entity: str, day: str) -> list[int]:
        table = read_partition(self.lake.location("hosts") / entity, {"dt": date.fromisoformat(day)})
        return sorted(table.column("twice").to_pylist())

    def commits(self, entity: str) -> int:
        return len(open_table(self.lake.location("hosts") / entity).history())

    def told(self, entity: str) -> Counter[str]:
        """How often each slice was materialized."""
        records = self.instance.fetch_materializations(dg.AssetKey(entity), limit=1_000).records
        return Counter(record.partition_key or "" for record in records)

    def failures(self) -> list[str]:
        """What the runs that failed say of it."""
        runs = self.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
        return [entry.message for run in runs for entry in self.instance.all_logs(run.run_id)]


@pytest.fixture
def observer(postgres_server: Postgres, object_store: S3Server, tmp_path: Path) -> Iterator[Observer]:
    state, dagster = (empty_database(postgres_server.url, tmp_path) for _ in range(2))
    shared = {**object_store.environment, "TIDEMARK_STATE": state, "TIDEMARK_WAREHOUSE": f"s3://{BUCKET}/hosts"}
    with (
        several_hosts(tmp_path, dagster, shared) as hosts,
        # Before the machines: of a new storage of Dagster's one process makes the tables.
        dg.DagsterInstance.from_config(str(hosts.machines["center"].home)) as instance,
    ):
        made = Observer(hosts, object_store, instance)
        yield made
        made.store.close()


def test_runs_go_to_both_and_what_a_lost_host_had_is_computed_once_by_the_other(observer: Observer) -> None:
    hosts, first, second, third = observer.hosts, "2026-03-02", "2026-03-03", "2026-03-04"
    a, b, center = (hosts.machines[name] for name in ("a", "b", "center"))
    for machine in (a, b):
        machine.start_workers()
    center.start_center()
    hosts.until(lambda: len(observer.there()) == 2, "two hosts")

    # Two slots of two hosts: both are taken. One host loses its power in the middle.
    hosts.hold("a", "b")
    observer.arrive(first)
    hosts.until(lambda: all(hosts.begun(first).values()), "a run on each host")
    begun = hosts.begun(first)
    assert sorted([*begun["a"], *begun["b"]]) == list(ENTITIES)
    a.kill()
    hosts.let_go("a", "b")
    hosts.until(lambda: observer.completed(first) == {*ENTITIES}, "both slices, by the host that is left")
    assert hosts.begun(first)["b"] == {*ENTITIES}
    assert any("No heartbeat arrived from the host a" in message for message in observer.failures())
    assert [*observer.there()] == ["b"]

    # It comes back, and is stopped in the middle of a run; it wakes when somebody else has computed its slice.
    a.start_workers()
    hosts.until(lambda: len(observer.there()) == 2, "the first host again")
    hosts.hold("a", "b")
    observer.arrive(second)
    hosts.until(lambda: all(hosts.begun(second).values()), "a run on each host")
    before = observer.there()["a"].fencing_token
    a.freeze()
    hosts.let_go("a", "b")
    hosts.until(lambda: observer.completed(second) == {*ENTITIES}, "both slices, by the host that is awake")
    a.wake()
    hosts.until(lambda: observer.there().get("a", observer.there()["b"]).fencing_token > before, "it to join again")

    # It takes runs again.
    hosts.hold("a", "b")
    observer.arrive(third)
    hosts.until(lambda: all(hosts.begun(third).values()), "a run on each host")
    hosts.let_go("a", "b")
    hosts.until(lambda: observer.completed(third) == {*ENTITIES}, "both slices")

    days = [first, second, third]
    for entity in ENTITIES:
        assert observer.told(entity) == Counter(days)
        assert observer.commits(entity) == len(days)
        assert [observer.rows(entity, day) for day in days] == [rows_of(entity, day) for day in days]
