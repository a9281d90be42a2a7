"""What a capture holds after half an hour of changes that keep coming."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture.ingest import ORDERS, SHARDS, check
from benchmarks.capture.messages import INSTANCES, produce, producer_of
from benchmarks.capture.orders import Left, OrderLife
from benchmarks.capture.world import CapturedWarehouse, memory
from tidemark.capture.source_table import topic_of
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka

if TYPE_CHECKING:
    import argparse
    from concurrent.futures import Future

# The changes' own clock is faster, so that some hours end.
_TIMES: Final = 10
_PASS_SECONDS: Final = 10.0
_AT_ONCE: Final = 250


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """A pass every ten seconds; raises RuntimeError when the table is not what is left of the changes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        for instance in INSTANCES:
            broker.create_topic(f"cdc.{instance}")
        captured = CapturedWarehouse.at(Path(folder) / "data", broker.bootstrap_servers, [ORDERS])
        held = stack.enter_context(memory())
        other = stack.enter_context(ProcessPoolExecutor(1, multiprocessing.get_context("spawn")))
        begun = time.perf_counter()
        sending = other.submit(_send, broker.bootstrap_servers, arguments.minutes, arguments.rate)
        seconds = _follow(captured, sending)
        changes = captured.ingestion.step().changes.get("ods_orders", 0) + sum(count for count, _ in seconds)
        lasted = time.perf_counter() - begun
        check(captured, sending.result())
        tagged = len(captured.registry.of("ods_orders_1h"))
    return {
        "soak_minutes": round(lasted / 60, 1),
        "soak_changes_per_second": round(changes / lasted),
        "soak_changes": changes,
        "soak_pass_s_max": round(max(duration for _, duration in seconds[len(seconds) // 10 :]), 1),
        "soak_snapshots": tagged,
        **{f"soak_{name}": value for name, value in held.figures().items()},
    }


def _follow(captured: CapturedWarehouse, sending: Future[list[Left]]) -> list[tuple[int, float]]:
    """The changes and seconds of each pass while they are sent."""
    passes = []
    while not sending.done():
        begun = time.perf_counter()
        report = captured.ingestion.step()
        passes.append((report.changes.get("ods_orders", 0), time.perf_counter() - begun))
        time.sleep(max(0.0, _PASS_SECONDS - passes[-1][1]))
    return passes


def _send(servers: str, minutes: float, rate: int) -> list[Left]:
    """`rate` changes a second of all instances; returns what is left of each one's."""
    per_instance = int(minutes * 60 * rate) // len(INSTANCES)
    lives = [OrderLife(name, SHARDS, per_instance, round(minutes * _TIMES)) for name in INSTANCES]
    producer, begun = producer_of(servers), time.monotonic()
    for number, values in enumerate(zip(*(life.messages() for life in lives), strict=True)):
        for name, value in zip(INSTANCES, values, strict=True):
            produce(producer, topic_of(name), value)
        if number % _AT_ONCE == 0:
            producer.poll(0)
            time.sleep(max(0.0, begun + number * len(INSTANCES) / rate - time.monotonic()))
    if producer.flush(120):
        raise RuntimeError("the broker did not take the messages in time")
    return [life.left() for life in lives]
