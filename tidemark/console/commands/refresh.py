"""`tidemark refresh`: refresh caches and materialized views after slices changed, and show the progress."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.service_threads import serve_in_threads
from tidemark.dependency_model.time.zone import zone_info
from tidemark.errors import TidemarkError, TransientError
from tidemark.system.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from tidemark.dependency_model.refresh.delivery import SliceDelivery
    from tidemark.refresh.refresher import Refresher, RefreshReport
    from tidemark.state_store.store import StateStore
    from tidemark.system.refresh_target import RefreshTarget
    from tidemark.warehouse.warehouse import Warehouse

_HEADINGS: Final = ("target", "slice", "state", "action", "generation", "taken", "attempts", "why")
_LOOK_SECONDS: Final = 0.05
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0


@click.command(cls=ActionCommand)
@click.argument("target", required=False)
@click.option("--follow", is_flag=True, help="Run until stopped, and refresh changes at once.")
@click.option("--status", is_flag=True, help="Only show the state of each target.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="The most rows of --status."
)
@json_option
def refresh(target: str | None, *, follow: bool, status: bool, limit: int, as_json: bool) -> None:
    """Refresh the copies of slices in databases and caches, at all targets or only at TARGET.

    An entity declares its copies (`refresh: [{target: cache, keys: ["gmv:{day}"]}]`), `refresh_targets` in
    tidemark.yaml declares the targets, and TIDEMARK_TARGET_<NAME> holds the address of each. Each generation of a slice
    that is completed and passed its rules is refreshed. A slice that is found wrong is invalidated. Only copies of this
    slice are touched. A new target gets each slice once.

    Each target gets every change at least once, in the order of generations. If a target does not answer, the delivery
    is repeated after 2 seconds, then 4, up to 15 minutes. Other targets are not delayed, and nothing is lost.

    One process refreshes a target at a time.

    \b
      tidemark refresh
      tidemark refresh cache --follow
      tidemark refresh --status

    \b
    Exit codes: 0 all is refreshed (with --follow: stopped); 1 a slice could not be; 2 wrong usage;
                75 the state store does not answer, or another process refreshes the target.
    With --json: {"targets": [{"target", "delivered", "troubles": [{"slice", "why"}]}]};
                  with --status {"open", "deliveries": [{"target", "slice", "state", "action", "generation", "version",
                  "seq", "due_at", "attempts", "reason",
                  "taken": {"action", "generation", "version", "seq", "at"} | null}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.state_store.store import StateStore  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if status and follow:
        raise click.UsageError("--status and --follow exclude each other")
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    targets = _targets(warehouse, target)
    if status:
        _print_status(_stored(warehouse, targets), limit, zone_info(settings.time_zone), as_json=as_json)
        return
    with closing(StateStore.of(settings)) as store:
        workers = [_refreshed(warehouse, store, declared) for declared in targets]
        if follow:
            serve_in_threads([worker.go_on for worker in workers], ServiceBeat(settings.data, "refresh"))
            return
        with ThreadPoolExecutor(len(workers), "refresh") as pool:
            reports = list(pool.map(_RefreshedTarget.one_pass, workers))
    _print_reports(dict(zip((worker.name for worker in workers), reports, strict=True)), as_json=as_json)


@dataclass(frozen=True)
class _RefreshedTarget:
    """The work for one target, in its own thread."""

    name: str
    refresher: Refresher

    def one_pass(self) -> RefreshReport | TidemarkError:
        try:
            return self.refresher.run_pass()
        except TidemarkError as error:
            return error

    def go_on(self, goes_on: Callable[[], bool]) -> None:
        """An error in a turn ends it; the next turn continues from the stored state."""
        boundary, pause = TurnBoundary(f"{self.name} waits"), _FIRST_PAUSE
        while goes_on():
            begun = time.monotonic()
            boundary.run(lambda: self._follow(goes_on))
            pause = min(2 * pause, _LONGEST_PAUSE) if time.monotonic() - begun < pause else _FIRST_PAUSE
            until = time.monotonic() + pause
            while goes_on() and time.monotonic() < until:
                time.sleep(_LOOK_SECONDS)

    def _follow(self, goes_on: Callable[[], bool]) -> None:
        def wait() -> bool:
            time.sleep(_LOOK_SECONDS)
            return goes_on()

        self.refresher.follow(goes_on, wait)


def _targets(warehouse: Warehouse, wanted: str | None) -> list[RefreshTarget]:
    """The chosen targets. Raises NotRefreshedError."""
    from tidemark.refresh.errors import NotRefreshedError  # noqa: PLC0415 - keeps --help fast

    declared = {target.name: target for target in warehouse.settings.refresh_targets}
    if wanted is not None and wanted not in declared:
        raise NotRefreshedError.target(wanted, sorted(declared))
    if not declared:
        raise NotRefreshedError.nothing()
    return [declared[wanted]] if wanted is not None else list(declared.values())


def _refreshed(warehouse: Warehouse, store: StateStore, target: RefreshTarget) -> _RefreshedTarget:
    """The target with its adapter. Raises TargetSettingError."""
    from tidemark.refresh.open_target import open_target  # noqa: PLC0415 - keeps --help fast
    from tidemark.refresh.refresher import Refresher  # noqa: PLC0415

    adapter = open_target(target, warehouse.settings.root, os.environ)
    return _RefreshedTarget(target.name, Refresher(warehouse, store, target.name, adapter))


def _print_reports(reports: dict[str, RefreshReport | TidemarkError], *, as_json: bool) -> None:
    """Print all reports, then raise the error of a target that failed."""
    done = {name: report for name, report in reports.items() if not isinstance(report, TidemarkError)}
    if as_json:
        print_json({"targets": [_report_as_data(name, report) for name, report in done.items()]})
    else:
        for name, report in done.items():
            print_line(f"{name}: {report.delivered} slices delivered")
            for slice_, why in report.troubles.items():
                print_line(f"{name}: {slice_} is not refreshed: {why}", "yellow")
    errors = [report for report in reports.values() if isinstance(report, TidemarkError)]
    if errors:
        raise next((error for error in errors if not isinstance(error, TransientError)), errors[0])
    raise SystemExit(ExitCode.FAILED if any(report.troubles for report in done.values()) else ExitCode.OK)


def _report_as_data(name: str, report: RefreshReport) -> dict[str, Any]:
    troubles = [{"slice": str(slice_), "why": why} for slice_, why in report.troubles.items()]
    return {"target": name, "delivered": report.delivered, "troubles": troubles}


def _stored(warehouse: Warehouse, targets: Sequence[RefreshTarget]) -> list[tuple[str, SliceDelivery]]:
    """Open deliveries first, then the newest."""
    from tidemark.state_store.database import Database  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.slice_deliveries import SliceDeliveries  # noqa: PLC0415

    with closing(Database.of(warehouse.settings)) as database:
        told = [
            (target.name, delivery)
            for target in targets
            for entity in warehouse.entities.values()
            if any(made.target == target.name for made in entity.refresh)
            for delivery in SliceDeliveries(database, target.name, entity.name).all().values()
        ]
    return sorted(told, key=lambda named: (not named[1].is_open, -named[1].standing.seq, named[1].slice))


def _print_status(told: Sequence[tuple[str, SliceDelivery]], limit: int, zone: tzinfo, *, as_json: bool) -> None:
    from tidemark.state_store.slice_deliveries import delivery_data  # noqa: PLC0415 - keeps --help fast

    shown, still_open = told[:limit], sum(delivery.is_open for _, delivery in told)
    if as_json:
        deliveries = [{"target": name, **delivery_data(delivery)} for name, delivery in shown]
        print_json({"open": still_open, "deliveries": deliveries})
        return
    print_table(_HEADINGS, [_row(name, delivery, zone) for name, delivery in shown])
    print_line(f"{len(told) - still_open} delivered, {still_open} open; {len(told) - len(shown)} not shown")


def _row(name: str, delivery: SliceDelivery, zone: tzinfo) -> list[str]:
    standing, taken_at = delivery.standing, delivery.taken_at
    return [
        name,
        str(delivery.slice),
        delivery.state.value,
        standing.action.value,
        str(standing.generation),
        f"{taken_at.astimezone(zone):%Y-%m-%d %H:%M:%S}" if taken_at else "",
        str(delivery.attempts),
        delivery.reason,
    ]
