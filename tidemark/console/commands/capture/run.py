"""`tidemark capture run`: the capture service."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from tidemark.console.commands.capture.step_loop import serve
from tidemark.console.end_deadline import end_within
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from tidemark.capture.operations.ingestion_report import IngestReport


@click.command()
@click.option(
    "--every",
    "every_seconds",
    type=click.FloatRange(1.0),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest time between two passes.",
)
@click.option("--once", is_flag=True, help="Stop after one pass.")
@json_option
def run(every_seconds: float, *, once: bool, as_json: bool) -> None:
    """Merge new changes into the tables and tag complete slices, every five minutes.

    Changes come from the topics of TIDEMARK_KAFKA, or from files in data/landing. When a slice ends, it looks every ten
    seconds until the slice is tagged. An error in one table does not stop other tables; it is printed, and the table is
    tried again in the next pass. A broker that does not answer is tried again, too. Ctrl-C stops it after the
    current pass. After a
    kill, it continues after its last commit.

    You may run several, on one host or more, with one state store: they share the source instances. When one ends, the
    others take over its instances.

    \b
    Exit codes: 0 stopped, 1 it cannot work with these settings (see `tidemark capture check`), 75 Spark ended and the
    service has to be started again; with --once also the result of the pass: 1 something must be changed, 75 try
    again.
    With --json one line for each pass: {"changes", "commits", "closed", "waiting", "warnings", "halted", "seconds"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.operations.preflight.all_checks import REFUSED, examine  # noqa: PLC0415 - keeps --help fast
    from tidemark.capture.operations.shared_capture import SharedCapture  # noqa: PLC0415
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415
    from tidemark.system.check_finding import require_no_problem  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load({"TIDEMARK_SPARK_TUNING": "throughput", **os.environ})
    beat = ServiceBeat(settings.data, "capture")
    warehouse = load_warehouse(settings)
    require_no_problem(examine(settings, warehouse.source_tables()), REFUSED)
    runtime = Runtime(warehouse)
    say = _as_json if as_json else _as_line
    with stop_signals() as signals, end_within(), ExitStack() as member:
        if once:
            report = runtime.ingestion.step()
            say(report)
            if not (as_json or report.commits or report.closed):
                print_line(f"no new changes in {settings.kafka or settings.landing}")
            return
        shared = SharedCapture(runtime.database, warehouse.source_tables(), runtime.ingestion_of, member)
        serve(shared.step, every_seconds, say, lambda: bool(signals), beat.beat)
    if not as_json:
        print_line("Stopped.")


def _as_line(report: IngestReport) -> None:
    if report.commits or report.closed:
        names = (
            f", tagged {', '.join(f'{snapshot.entity} {snapshot.slice}' for snapshot in report.closed[-3:])}"
            if report.closed
            else ""
        )
        more = f" and {len(report.closed) - 3} before" if len(report.closed) > 3 else ""
        print_line(f"{sum(report.changes.values()):,} changes in {report.seconds:.1f} s{names}{more}")
    for warning in (*report.warnings, *(f"halted: {finding}" for finding in report.halted)):
        print_line(warning, "yellow")


def _as_json(report: IngestReport) -> None:
    print_json(
        {
            "changes": dict(report.changes),
            "commits": report.commits,
            "closed": [[snapshot.entity, snapshot.slice, snapshot.version] for snapshot in report.closed],
            "waiting": [str(boundary) for boundary in report.waiting],
            "warnings": list(report.warnings),
            "halted": [str(finding) for finding in report.halted],
            "seconds": round(report.seconds, 3),
        }
    )
