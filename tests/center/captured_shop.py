"""A shop whose orders are captured and judged, on real tables in a running Dagster; each step is a new process's.

The oracle is arithmetic over what was sent: which rows there are at the end of each day, and whether one breaks the
rule. Tagged versions are read by delta-rs, without the engine.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from deltalake import DeltaTable

from tests.capture.streams import ORDERS, Stream, at, order
from tests.center.test_in_process_host import Recorder, host_of
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.snapshots.late.snapshot_with_late_changes import with_late_changes
from tidemark.compute.runtime import Runtime
from tidemark.delta.delta_rs_table import read_table
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    import dagster as dg
    from pyspark.sql import SparkSession

    from tidemark.center.in_process_host import InProcessHost
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.snapshot_registry import TaggedSnapshot

PROJECT: Final = "time_zone: UTC\nstart: 2026-03-23\nowner: data@school.example\n"
CAPTURED: Final = """
kind: Snapshot
period: day
source: {table: "school.orders_*", instances: [a]}
key: [order_id]
partition_by: order_date
"""
RULES: Final = "quality: [{range: {column: amount, min: 0}}, {unique: [_shard, order_id]}]\n"
SPENT: Final = "SELECT count(*) AS orders, CAST(sum(amount) AS DECIMAL(12, 2)) AS amount FROM orders\n"
Rows = dict[int, Decimal]


class CapturedShop:
    """Orders of days of March 2026, their snapshots, and `spent`, which is made of each of them."""

    def __init__(
        self, spark: SparkSession, folder: Path, instance: dg.DagsterInstance, rules: str = RULES, more: str = ""
    ) -> None:
        layer = folder / "declared" / "ods"
        layer.mkdir(parents=True)
        (folder / "declared" / "project.yaml").write_text(PROJECT)
        (layer / "orders.yaml").write_text(CAPTURED + rules + more)
        (layer / "spent.yaml").write_text("period: day\ndepends_on: [orders]\n")
        (layer / "spent.sql").write_text(SPENT)
        settings = Settings.at(folder / "data", time_zone="UTC")
        self.spark, self._instance = spark, instance
        self.warehouse = load_warehouse(settings, folder / "declared")
        self.path = self.warehouse.table_path("orders")
        self.runtime = Runtime(self.warehouse)
        self.stream, self._landed = Stream("a"), 0
        self.rows: Rows = {}
        self.at_end: dict[str, Rows] = {}
        self.stream.declare("orders_0", ORDERS, at("2026-03-23 01:00"))

    def write(self, number: int, amount: str, day: int, placed: int | None = None, when: str = "10:00") -> None:
        """An order gets an amount on a day; it was placed on that one, or an earlier one."""
        placed = placed or day
        before = order(number, str(self.rows[number]), placed) if number in self.rows else None
        self.stream.change("orders_0", before, order(number, amount, placed), at(f"2026-03-{day} {when}"))
        self.rows[number] = Decimal(amount)

    def end(self, day: int) -> None:
        """The day is over: a heartbeat of the next one says so."""
        self.stream.heartbeat(at(f"2026-03-{day + 1} 00:10"))
        self.at_end[f"2026-03-{day}"] = dict(self.rows)
        self.land()

    def land(self) -> None:
        self.stream.land(self.warehouse.settings.landing, self._landed)
        self._landed = len(self.stream.lines)

    def capture(self) -> None:
        settings = self.warehouse.settings
        Ingestion(self.spark, settings, self.warehouse.source_tables(), self.runtime.registry).step()

    def judge(self, *days: str) -> None:
        """What a run of these slices does, without Dagster."""
        self.runtime.computer().snapshots([Slice("orders", day) for day in days])

    def run(self) -> InProcessHost:
        """What is ready runs, in a host that was just started."""
        host = host_of(self.warehouse, self._instance)
        host.run_ready(host.dispatch(Recorder()))
        return host

    def step(self) -> InProcessHost:
        self.capture()
        return self.run()

    @property
    def tags(self) -> dict[str, TaggedSnapshot]:
        return {tag.slice: tag for tag in self.runtime.registry.of("orders")}

    def read(self, tag: TaggedSnapshot) -> Rows:
        """The rows of a tag."""
        if not tag.is_restated:
            table = DeltaTable(str(self.path), version=tag.version).to_pyarrow_table()
            return dict(zip(table["order_id"].to_pylist(), table["amount"].to_pylist(), strict=True))
        late = read_table(self.spark, late_path(self.warehouse.settings.warehouse, "orders"))
        end_ms = int(self.warehouse.graph.window(Slice("orders", tag.slice)).end.timestamp() * 1000)
        version = read_table(self.spark, self.path, tag.version)
        whole = with_late_changes(version, late, ("_shard", "order_id"), end_ms, tag.late_batch).collect()
        return {row["order_id"]: row["amount"] for row in whole}

    def spent(self) -> dict[str, tuple[int, Decimal]]:
        """What was made of the snapshots, by day."""
        path = self.warehouse.table_path("spent")
        if not DeltaTable.is_deltatable(str(path)):
            return {}
        rows = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
        return {str(row["dt"]): (row["orders"], row["amount"]) for row in rows}

    def expect(self, *days: str) -> None:
        """Exactly these days are tagged, as they were, and `spent` is made of them."""
        assert {day: self.read(tag) for day, tag in self.tags.items()} == {day: self.at_end[day] for day in days}
        assert self.spent() == {day: (len(rows), sum(rows.values())) for day in days for rows in (self.at_end[day],)}


def status(host: InProcessHost, text: str) -> SliceStatus:
    return host.center.status(Slice.parse(text))
