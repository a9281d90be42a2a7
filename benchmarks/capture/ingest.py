"""How many changes a second come from Kafka into a Delta table that can be asked."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

from benchmarks.capture.messages import INSTANCES, fill
from benchmarks.capture.orders import Left, OrderLife
from benchmarks.capture.world import CapturedWarehouse, memory
from benchmarks.timing import cpu_of, cpu_seconds
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka
from tidemark.delta.delta_rs_table import read_table
from tidemark.spark.session import spark_session

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

SHARDS: Final = 25
_HOURS: Final = 5
_BOUNDARIES: Final = (("ods_orders_1h", "hour", "2026-03-23T00"),)
ORDERS: Final = SourceTable("ods_orders", "school.orders_*", INSTANCES, ("order_id",), None, _BOUNDARIES)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All changes, in one go; raises RuntimeError when the table is not what is left of them."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        for instance in INSTANCES:
            broker.create_topic(f"cdc.{instance}")
        lives = {name: OrderLife(name, SHARDS, arguments.changes // len(INSTANCES), _HOURS * 60) for name in INSTANCES}
        _, size = fill(broker.bootstrap_servers, INSTANCES, lambda name: lives[name].messages())
        captured = CapturedWarehouse.at(Path(folder) / "data", broker.bootstrap_servers, [ORDERS])
        held = stack.enter_context(memory())
        java = psutil.Process(broker.server.pid)
        begun, cpu = time.perf_counter(), cpu_seconds() - cpu_of(java)
        report = captured.ingestion.step()
        seconds, cpu = time.perf_counter() - begun, cpu_seconds() - cpu_of(java) - cpu
        check(captured, (life.left() for life in lives.values()))
        tagged = len(captured.registry.of("ods_orders_1h"))
    changes = report.changes["ods_orders"]
    return {
        "changes_per_second": round(changes / seconds),
        "changes": changes,
        "capture_seconds": round(seconds, 1),
        "cpu_us_per_change": round(cpu / changes * 1e6, 1),
        "shards": SHARDS * len(INSTANCES),
        "commits": report.commits,
        "snapshots": tagged,
        "change_bytes": round(size),
        **held.figures(),
    }


def check(captured: CapturedWarehouse, left: Iterable[Left]) -> None:
    """Raise RuntimeError unless the table is what is left of the instances' changes."""
    expected = Left()
    for extra in left:
        expected.add(extra)
    spark = spark_session(captured.settings)
    rows = read_table(spark, captured.settings.warehouse / "ods_orders")
    row = rows.selectExpr("count(*)", "sum(order_id)", "sum(CAST(status AS BIGINT))").first()
    if row is None or Left(*row) != expected:
        raise RuntimeError(f"the table has {row}, the changes leave {expected}")
