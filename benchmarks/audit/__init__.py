"""Audit: planted differences in a captured table, found while rows change, and what that costs the source.

A table of `--rows` rows lies in a MariaDB server, and in a Delta table which the same generator filled in Spark; 1,000
rows of the Delta table are spoiled: missing, there twice, or with another amount. Then `--rate` rows a second change,
go and come (none of the spoiled ones), and are taken in by Debezium, Kafka and the real capture, a step every few
seconds. The audit goes through the table once; before and after it the server has the same load alone.

    planted             spoiled rows
    found               of these, rows that are findings
    false_alarms        rows that are findings and were not spoiled
    source_cpu_share    processor time of the audit's own thread in the server, of one processor's time
    source_cpu_of_all   the same, of the time that the server used for load and audit together
    server_cpu_alone    processors that the server uses under the load alone, before and after
    server_cpu_audited  the same with the audit
    cycle_seconds       one cycle
    changes             row changes that capture merged meanwhile
    source_seconds      how long the audit's questions took
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.audit.audited_table import fill_lake, fill_source, is_spoiled
from benchmarks.audit.progress import Progress
from benchmarks.audit.server_time import ServerTime, connection_seconds
from benchmarks.audit.world import AuditedWorld
from tests.lake_folder import lake_folder

if TYPE_CHECKING:
    import argparse


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--planted", type=int, default=1_000)
    parser.add_argument("--rate", type=int, default=100, help="changes a second")
    parser.add_argument("--share", type=float, default=0.04, help="as of tidemark capture audit")
    parser.add_argument("--alone", type=float, default=60.0, help="seconds of the load alone, before and after")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Raises RuntimeError where the audit passed over some range."""
    rows, every = arguments.rows, arguments.rows // arguments.planted
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        world = stack.enter_context(AuditedWorld.started(Path(folder)))
        world.begin()
        fill_source(world.server, rows)
        fill_lake(world.spark, lake_folder(world.settings.warehouse), rows, every)
        stack.enter_context(world.life(rows, every, arguments.rate))
        stack.enter_context(world.captured())
        server = ServerTime(world.pid)
        before = server.processors(arguments.alone)
        begun, used = time.monotonic(), server.seconds()
        audit, reader = world.audit(arguments.share)
        report = audit.cycle(watch=Progress(rows))
        lasted, taken = time.monotonic() - begun, server.seconds() - used
        own = connection_seconds(world.server, world.pid, reader)
        after = server.processors(arguments.alone)
        changes = world.changes
    if report.passed_over:
        raise RuntimeError(f"not compared: {report.passed_over}")
    keys = [int(key) for finding in report.found for key in finding.rows]
    return {
        "rows": rows,
        "planted": sum(is_spoiled(key, every) for key in range(1, rows + 1)),
        "found": len({key for key in keys if is_spoiled(key, every)}),
        "false_alarms": len([key for key in keys if not is_spoiled(key, every)]),
        "source_cpu_share": round(own / lasted, 4),
        "source_cpu_of_all": round(own / taken, 4),
        "server_cpu_alone": [round(before, 3), round(after, 3)],
        "server_cpu_audited": round(taken / lasted, 3),
        "cycle_seconds": round(report.seconds, 1),
        "source_seconds": round(report.source_seconds, 1),
        "looks": report.looks,
        "changes": changes,
    }
