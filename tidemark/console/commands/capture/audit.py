"""`tidemark capture audit`: compare rows of the lake with the source, range by range."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.commands.capture.load import captured_source
from tidemark.console.end_deadline import end_within
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.stop_signals import stop_signals
from tidemark.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.capture.audit.audit import SourceAudit
    from tidemark.capture.audit.cycle_run import CycleReport
    from tidemark.capture.audit.findings import AuditFinding

_LEAST_SECONDS: Final = 300.0
"""Shortest time between the starts of two cycles, so small tables are not read all the time."""
_WATCH_SECONDS: Final = 0.5
_TOLD_EVERY: Final = 60.0


@click.command()
@click.argument("tables", metavar="[TABLE...]", nargs=-1)
@click.option(
    "--share",
    type=click.FloatRange(0.001, 0.5),
    default=0.02,
    show_default=True,
    help="The share of time spent on queries to the databases.",
)
@click.option("--ranges-per-minute", "per_minute", type=click.FloatRange(0.1), help="The most ranges in a minute.")
@click.option("--once", is_flag=True, help="Stop after one cycle.")
@json_option
def audit(tables: tuple[str, ...], share: float, per_minute: float | None, *, once: bool, as_json: bool) -> None:
    """Compare rows of captured TABLEs (default: all) with their source databases, in endless cycles.

    It runs in parallel with `tidemark capture run` and waits for it: a range is read at the source in one snapshot,
    and compared
    when capture has merged all changes of that snapshot. Counts and checksums are compared first, then the rows that
    differ. Rows that change in the meantime are compared later. It only reads. It needs the addresses of
    TIDEMARK_DATABASES and the right SELECT on the tables.

    A row that stays different is a finding. The tags of its table are held until the rows are reloaded (the finding
    names the command) or accepted; `tidemark capture status` shows them. When the rows equal the source again, the
    next cycle reports it. FLOAT and DOUBLE keys are not compared (docs/capture.md). A stopped cycle continues at its
    position.

    \b
    Exit codes: 0 stopped, 1 it cannot work with these settings; with --once 0 nothing differs, 1 rows differ, 75 some
    ranges could not be compared, or a database does not answer.
    With --json one line for each cycle: {"ranges", "rows", "looks", "found": [{"table", "shard", "rows": {key:
    kind}, "count",
    "columns", "reload", ...}], "resolved": [...], "open": [...], "passed_over": {range: why}, "seconds",
    "source_seconds"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.audit.open_audit import open_audit  # noqa: PLC0415 - keeps --help fast
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415
    from tidemark.state_store.held_leases import holding  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load({"TIDEMARK_SPARK_TUNING": "throughput", **os.environ})
    warehouse = load_warehouse(settings)
    captured = warehouse.source_tables()
    chosen = [captured_source(captured, table) for table in tables] or list(captured)
    runtime = Runtime(warehouse)
    with holding(runtime.database, "audit", "comparing with the source"), stop_signals() as signals, end_within():
        opened = open_audit(lambda: runtime.spark, settings, chosen, share, per_minute, runtime.database)
        say = _as_json if as_json else _as_line
        if once:
            raise SystemExit(_once(opened, say, lambda: bool(signals), _Watch(is_quiet=as_json)))
        _serve(opened, say, lambda: bool(signals), _Watch(is_quiet=as_json))


def _once(
    opened: SourceAudit, say: Callable[[CycleReport, SourceAudit], None], stopped: Callable[[], bool], watch: _Watch
) -> int:
    report = opened.cycle(stopped, watch)
    say(report, opened)
    if opened.open():
        return ExitCode.FAILED
    return ExitCode.TRY_AGAIN if report.passed_over else ExitCode.OK


def _serve(
    opened: SourceAudit, say: Callable[[CycleReport, SourceAudit], None], stopped: Callable[[], bool], watch: _Watch
) -> None:
    while not stopped():
        begun = time.monotonic()
        try:
            say(opened.cycle(stopped, watch), opened)
        except TransientError as error:
            print_line(f"trying again in {_LEAST_SECONDS:.0f} s: {error}", "yellow")
        while not stopped() and time.monotonic() - begun < _LEAST_SECONDS:
            time.sleep(_WATCH_SECONDS)


class _Watch:
    """Prints the findings of a cycle at once, and the progress every minute."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._said, self._told = 0, time.monotonic()

    def __call__(self, report: CycleReport) -> None:
        if self._is_quiet:
            return
        for finding in report.found[self._said :]:
            print_line(_told(finding), "bold red")
        self._said = len(report.found)
        if time.monotonic() - self._told > _TOLD_EVERY:
            self._told = time.monotonic()
            print_line(f"{report.rows:,} rows in {report.ranges} ranges compared, {len(report.found)} findings")


def _told(finding: AuditFinding) -> str:
    return f"{finding.patch.shard}: {finding.summary}; {finding.reload} reads them again"


def _as_line(report: CycleReport, opened: SourceAudit) -> None:
    left = len(opened.open())
    print_line(
        f"{report.rows:,} rows in {report.ranges} ranges compared in {report.seconds:.0f} s "
        f"({report.source_seconds:.1f} s at the sources): {len(report.found)} new findings, "
        f"{len(report.resolved)} resolved, {left} open"
    )
    for what, why in report.passed_over.items():
        print_line(f"not compared: {what}: {why}", "yellow")


def _as_json(report: CycleReport, opened: SourceAudit) -> None:
    print_json(
        {
            "ranges": report.ranges,
            "rows": report.rows,
            "looks": report.looks,
            "found": [finding.to_json() for finding in report.found],
            "resolved": [finding.id for finding in report.resolved],
            "open": [finding.to_json() for finding in opened.open()],
            "passed_over": dict(report.passed_over),
            "seconds": round(report.seconds, 3),
            "source_seconds": round(report.source_seconds, 3),
        }
    )
