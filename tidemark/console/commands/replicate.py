"""`tidemark replicate`: completed slices to other lakes, and how far that is."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.stop_signals import stop_signals
from tidemark.dependency_model.time.zone import zone_info
from tidemark.errors import TidemarkError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from tidemark.replication.replicator import PassReport, Replicator
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.system.replica_place import ReplicaPlace
    from tidemark.warehouse.warehouse import Warehouse

_HEADINGS: Final = ("replica", "slice", "state", "generation", "published", "version there", "sent", "why")
_WATCH_SECONDS: Final = 0.2
_EVERY_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0


@click.command()
@click.argument("place", required=False)
@click.option("--follow", is_flag=True, help="Go on until stopped: what completes is copied as it does.")
@click.option("--status", is_flag=True, help="Say how far each slice is, and copy nothing.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="With --status: so many.")
@json_option
def replicate(place: str | None, *, follow: bool, status: bool, limit: int, as_json: bool) -> None:
    """Copy completed slices to the lakes that their entities name, all of them or PLACE alone.

    An entity names the places (`replicate: [center_b]`), `replicas` in tidemark.yaml says where they are. Of each slice
    the files that the table's log lists for its version are copied, but those that the place has: by name, by their
    bytes, or by rows that a clustering moved into other files. Each file is read back and its checksum compared. Then
    one commit makes the slice visible there: readers see it as it was before, or as it is after. Promised tables go
    first. What is killed goes on where it was; what fails says why and is tried again, after longer and longer waits.

    One process copies to a place at a time. Invalid and tainted slices are not copied.

    \b
      tidemark replicate
      tidemark replicate center_b --follow
      tidemark replicate --status

    \b
    Exit codes: 0 all is there (with --follow: stopped); 1 a slice could not be copied; 2 called wrongly;
                75 a place or the state store does not answer, or another process copies there.
    With --json: {"replicas": [{"replica", "published", "sent_bytes", "troubles": [{"slice", "why"}]}]};
                  with --status {"copies": [{"replica", "slice", "state", "generation", "version", "changed_at",
                  "due_at", "attempts", "reason", "files", "size_bytes", "sent_bytes",
                  "published": {"generation", "version", "replica_version", "at"} | null}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.state_store.store import StateStore  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if status and follow:
        raise click.UsageError("--status copies nothing: --follow does not go with it")
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    places = _places(warehouse, place)
    if status:
        copies = _copies(warehouse, places)
        _print_status(copies, limit, zone_info(settings.time_zone), as_json=as_json)
        return
    from tidemark.replication.bandwidth import Bandwidth  # noqa: PLC0415
    from tidemark.replication.replicator import Replicator  # noqa: PLC0415

    with closing(StateStore.of(settings)) as store:
        replicators = {
            there.name: Replicator(warehouse, store, there, Bandwidth(there.bytes_per_second)) for there in places
        }
        if follow:
            _follow(replicators, ServiceBeat(settings.data, "replicate"))
            return
        _print_reports(_pass_of_all(replicators), as_json=as_json)


def _places(warehouse: Warehouse, wanted: str | None) -> list[ReplicaPlace]:
    """Raises NotReplicatedError, LocationError."""
    from tidemark.replication.errors import NotReplicatedError  # noqa: PLC0415 - keeps --help fast

    declared = {replica.name: replica for replica in warehouse.settings.replicas}
    if wanted is not None and wanted not in declared:
        raise NotReplicatedError.place(wanted, sorted(declared))
    if not declared:
        raise NotReplicatedError.nothing()
    names = [wanted] if wanted is not None else list(declared)
    return [declared[name].place(warehouse.settings.root) for name in names]


def _pass_of_all(replicators: dict[str, Replicator]) -> dict[str, PassReport | TidemarkError]:
    """A thread for each place: a slow one keeps nobody waiting."""
    with ThreadPoolExecutor(len(replicators), "replica") as pool:
        return dict(zip(replicators, pool.map(_one_pass, replicators.values()), strict=True))


def _one_pass(replicator: Replicator) -> PassReport | TidemarkError:
    try:
        return replicator.run_pass()
    except TidemarkError as error:
        return error


def _follow(replicators: dict[str, Replicator], beat: ServiceBeat) -> None:
    with stop_signals() as signals, ThreadPoolExecutor(len(replicators), "replica") as pool:
        for name, replicator in replicators.items():
            pool.submit(_go_on, name, replicator, lambda: not signals)
        while not signals:
            beat.beat()
            time.sleep(_WATCH_SECONDS)


def _go_on(name: str, replicator: Replicator, goes_on: Callable[[], bool]) -> None:
    pause = _EVERY_SECONDS
    while goes_on():
        try:
            report = replicator.run_pass(goes_on)
            pause = _EVERY_SECONDS
            if report.published:
                print_line(f"{name}: {report.published} slices published, {report.sent_bytes:,} bytes sent")
        except TidemarkError as error:
            print_line(f"{name}: tried again in {pause:.0f} s: {error}", "yellow")
            _wait(pause, goes_on)
            pause = min(2 * pause, _LONGEST_PAUSE)
        _wait(_EVERY_SECONDS, goes_on)


def _wait(seconds: float, goes_on: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while goes_on() and time.monotonic() < until:
        time.sleep(_WATCH_SECONDS)


def _print_reports(reports: dict[str, PassReport | TidemarkError], *, as_json: bool) -> None:
    """Raises the error of a place that could not be asked, after all others were told."""
    done = {name: report for name, report in reports.items() if not isinstance(report, TidemarkError)}
    if as_json:
        print_json({"replicas": [_report_as_data(name, report) for name, report in done.items()]})
    else:
        for name, report in done.items():
            print_line(f"{name}: {report.published} slices published, {report.sent_bytes:,} bytes sent")
            for slice_, why in report.troubles.items():
                print_line(f"{name}: {slice_} is not there: {why}", "yellow")
    errors = [report for report in reports.values() if isinstance(report, TidemarkError)]
    if errors:
        raise next((error for error in errors if not isinstance(error, TransientError)), errors[0])
    raise SystemExit(ExitCode.FAILED if any(report.troubles for report in done.values()) else ExitCode.OK)


def _report_as_data(name: str, report: PassReport) -> dict[str, Any]:
    troubles = [{"slice": str(slice_), "why": why} for slice_, why in report.troubles.items()]
    return {"replica": name, "published": report.published, "sent_bytes": report.sent_bytes, "troubles": troubles}


def _copies(warehouse: Warehouse, places: Sequence[ReplicaPlace]) -> list[tuple[str, SliceCopy]]:
    """Open ones first, then the newest."""
    from tidemark.state_store.database import Database  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.slice_copies import SliceCopies  # noqa: PLC0415

    with closing(Database.of(warehouse.settings)) as database:
        copies = [
            (place.name, copy)
            for place in places
            for entity in warehouse.entities.values()
            if place.name in entity.replicate
            for copy in SliceCopies(database, place.name, entity.name).all().values()
        ]
    return sorted(copies, key=lambda told: (not told[1].is_open, -told[1].changed_at.timestamp(), told[1].slice))


def _print_status(copies: Sequence[tuple[str, SliceCopy]], limit: int, zone: tzinfo, *, as_json: bool) -> None:
    shown = copies[:limit]
    if as_json:
        print_json({"copies": [{"replica": name, **copy.as_data()} for name, copy in shown]})
        return
    print_table(_HEADINGS, [_row(name, copy, zone) for name, copy in shown])
    still_open = sum(copy.is_open for _, copy in copies)
    print_line(f"{len(copies) - still_open} published, {still_open} open; {len(copies) - len(shown)} not shown")


def _row(name: str, copy: SliceCopy, zone: tzinfo) -> list[str]:
    published = copy.published
    return [
        name,
        str(copy.slice),
        copy.state.value,
        str(copy.generation),
        f"{published.at.astimezone(zone):%Y-%m-%d %H:%M:%S}" if published else "",
        str(published.replica_version) if published else "",
        f"{copy.sent_bytes} of {copy.size_bytes}",
        copy.reason,
    ]
