"""`tidemark replicate`: copy completed slices to other lakes, and show the progress."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.service_threads import WATCH_SECONDS, serve_in_threads
from tidemark.dependency_model.time.zone import zone_info
from tidemark.errors import TidemarkError, TransientError
from tidemark.system.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from tidemark.replication.mender import Mender, MenderReport
    from tidemark.replication.replicator import PassReport, Replicator
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.state_store.store import StateStore
    from tidemark.system.replica_place import ReplicaPlace
    from tidemark.warehouse.warehouse import Warehouse

    _Reports = dict[str, tuple[PassReport, MenderReport | None] | TidemarkError]

_HEADINGS: Final = ("replica", "slice", "state", "generation", "published", "version there", "sent", "why")
_EVERY_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_REPAIR_SECONDS: Final = 3600.0
_ENDED: Final = object()


@click.command(cls=ActionCommand)
@click.argument("place", required=False)
@click.option("--follow", is_flag=True, help="Run until stopped, and copy slices when they complete.")
@click.option("--repair", is_flag=True, help="First check every file at the place, and repair damage.")
@click.option("--status", is_flag=True, help="Only show the state of each slice.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="The most rows of --status."
)
@json_option
def replicate(place: str | None, *, follow: bool, repair: bool, status: bool, limit: int, as_json: bool) -> None:
    """Copy completed slices to the lakes that their entities name, to all places or only to PLACE.

    An entity names its places (`replicate: [center_b]`), and `replicas` in tidemark.yaml has their addresses. The files
    of each slice's version are copied, except files that the place has: by name, by bytes, or with rows that a
    clustering moved. Each file is read back and compared. Then one commit makes the slice visible: readers see it
    before or after the commit. Promised tables go first. After a kill, the copy continues. A failure is reported and
    repeated with longer and longer waits.

    --repair compares each file at a place with its checksum, and the log with the published slices. Missing, damaged
    and extra files, and changes by other programs, are reported and repaired. --follow does this every hour, at the
    rate of `repair_mb_per_second`.

    One process copies to a place at a time. Invalid and tainted slices are not copied.

    \b
      tidemark replicate
      tidemark replicate center_b --follow
      tidemark replicate --repair
      tidemark replicate --status

    \b
    Exit codes: 0 all is there (with --follow: stopped); 1 a slice could not be copied; 2 wrong usage;
                75 a place or the state store does not answer, or another process copies there.
    With --json: {"replicas": [{"replica", "published", "sent_bytes", "troubles": [{"slice", "why"}],
                  "repaired": {"files", "read_bytes", "findings": [{"table", "what", "damage", "done"}],
                  "troubles": [{"table", "why"}]} | null}]};
                  with --status {"copies": [{"replica", "slice", "state", "generation", "version", "changed_at",
                  "due_at", "attempts", "reason", "files", "size_bytes", "sent_bytes",
                  "published": {"generation", "version", "replica_version", "at"} | null}],
                  "repaired": {replica: {"at", "files", "read_bytes", "findings", "troubles"}}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.state_store.store import StateStore  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if status and (follow or repair):
        raise click.UsageError("--status excludes --follow and --repair")
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    places = _places(warehouse, place)
    if status:
        copies, repaired = _stored(warehouse, places)
        _print_status(copies, repaired, limit, zone_info(settings.time_zone), as_json=as_json)
        return

    with closing(StateStore.of(settings)) as store:
        replicas = [_Replica.of(warehouse, store, there) for there in places]
        if follow:
            serve_in_threads([replica.go_on for replica in replicas], ServiceBeat(settings.data, "replicate"))
            return
        _print_reports(_pass_of_all(replicas, is_repaired=repair), as_json=as_json)


@dataclass(frozen=True)
class _Replica:
    """The work for one place, in its own thread."""

    name: str
    replicator: Replicator
    mender: Mender

    @classmethod
    def of(cls, warehouse: Warehouse, store: StateStore, place: ReplicaPlace) -> Self:
        from tidemark.replication.bandwidth import Bandwidth  # noqa: PLC0415 - keeps --help fast
        from tidemark.replication.mender import Mender  # noqa: PLC0415
        from tidemark.replication.replicator import Replicator  # noqa: PLC0415

        sending, reading = Bandwidth(place.bytes_per_second), Bandwidth(place.repair_bytes_per_second)
        return cls(place.name, Replicator(warehouse, store, place, sending), Mender(warehouse, store, place, reading))

    def one_pass(self, *, is_repaired: bool) -> tuple[PassReport, MenderReport | None] | TidemarkError:
        try:
            repaired = self.mender.run_pass() if is_repaired else None
            return self.replicator.run_pass(), repaired
        except TidemarkError as error:
            return error

    def go_on(self, goes_on: Callable[[], bool]) -> None:
        """Copy new slices, and check some files in between."""
        boundary = TurnBoundary(f"{self.name} waits")
        repairing, pause, due = _RepairSteps(iter(())), _EVERY_SECONDS, 0.0
        while goes_on():
            is_done = boundary.run(partial(self._turn, goes_on))
            pause = _EVERY_SECONDS if is_done else min(2 * pause, _LONGEST_PAUSE)
            if time.monotonic() >= due:
                repairing, due = _RepairSteps(self._repairing()), time.monotonic() + _REPAIR_SECONDS
            _wait(pause, goes_on, repairing, boundary)

    def _turn(self, goes_on: Callable[[], bool]) -> None:
        report = self.replicator.run_pass(goes_on)
        if report.published:
            print_line(f"{self.name}: {report.published} slices published, {report.sent_bytes:,} bytes sent")

    def _repairing(self) -> Iterator[None]:
        from tidemark.replication.mender import MenderReport  # noqa: PLC0415 - keeps --help fast

        report = MenderReport()
        yield from self.mender.steps(report)
        for line in _repaired_lines(self.name, report.as_data()):
            print_line(line, "yellow")


def _places(warehouse: Warehouse, wanted: str | None) -> list[ReplicaPlace]:
    """The chosen places. Raises NotReplicatedError, LocationError."""
    from tidemark.replication.errors import NotReplicatedError  # noqa: PLC0415 - keeps --help fast

    declared = {replica.name: replica for replica in warehouse.settings.replicas}
    if wanted is not None and wanted not in declared:
        raise NotReplicatedError.place(wanted, sorted(declared))
    if not declared:
        raise NotReplicatedError.nothing()
    names = [wanted] if wanted is not None else list(declared)
    return [declared[name].place(warehouse.settings.root) for name in names]


def _pass_of_all(replicas: list[_Replica], *, is_repaired: bool) -> _Reports:
    """One pass with a thread for each place, so a slow one does not delay others."""
    with ThreadPoolExecutor(len(replicas), "replica") as pool:
        reports = pool.map(lambda replica: replica.one_pass(is_repaired=is_repaired), replicas)
        return dict(zip((replica.name for replica in replicas), reports, strict=True))


@dataclass
class _RepairSteps:
    """The steps of one pass of the mender."""

    steps: Iterator[None]
    is_over: bool = False

    def look(self) -> None:
        """Check some more files, if there are any."""
        self.is_over = next(self.steps, _ENDED) is _ENDED


def _wait(seconds: float, goes_on: Callable[[], bool], repairing: _RepairSteps, boundary: TurnBoundary) -> None:
    """Wait; the mender checks files in the meantime."""
    until = time.monotonic() + seconds
    while goes_on() and time.monotonic() < until:
        if repairing.is_over or not boundary.run(repairing.look) or repairing.is_over:
            time.sleep(WATCH_SECONDS)


def _print_reports(reports: _Reports, *, as_json: bool) -> None:
    """Print all reports, then raise the error of a place that failed."""
    done = {name: report for name, report in reports.items() if not isinstance(report, TidemarkError)}
    if as_json:
        print_json({"replicas": [_report_as_data(name, *report) for name, report in done.items()]})
    else:
        for name, (report, repaired) in done.items():
            for line in _repaired_lines(name, repaired.as_data()) if repaired else ():
                print_line(line, "yellow")
            print_line(f"{name}: {report.published} slices published, {report.sent_bytes:,} bytes sent")
            for slice_, why in report.troubles.items():
                print_line(f"{name}: {slice_} is not copied: {why}", "yellow")
    errors = [report for report in reports.values() if isinstance(report, TidemarkError)]
    if errors:
        raise next((error for error in errors if not isinstance(error, TransientError)), errors[0])
    is_trouble = any(report.troubles or (repaired and repaired.troubles) for report, repaired in done.values())
    raise SystemExit(ExitCode.FAILED if is_trouble else ExitCode.OK)


def _report_as_data(name: str, report: PassReport, repaired: MenderReport | None) -> dict[str, Any]:
    troubles = [{"slice": str(slice_), "why": why} for slice_, why in report.troubles.items()]
    told = {"replica": name, "published": report.published, "sent_bytes": report.sent_bytes, "troubles": troubles}
    return {**told, "repaired": repaired.as_data() if repaired else None}


def _repaired_lines(name: str, repaired: dict[str, Any]) -> Iterator[str]:
    """The report of the mender: a line for each damage, and one for the total."""
    for told in repaired["findings"]:
        yield f"{name}: {told['what']} of {told['table']}: {told['damage']}, {told['done']}"
    for told in repaired["troubles"]:
        yield f"{name}: {told['table']} could not be checked: {told['why']}"
    yield f"{name}: {repaired['files']} files checked, {len(repaired['findings'])} damages found"


def _stored(
    warehouse: Warehouse, places: Sequence[ReplicaPlace]
) -> tuple[list[tuple[str, SliceCopy]], dict[str, dict[str, Any]]]:
    """Copies, open ones first and then the newest, and the last report of the mender for each place."""
    from tidemark.replication.mender import LAST_REPAIR  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.notes import Notes  # noqa: PLC0415
    from tidemark.state_store.slice_copies import SliceCopies  # noqa: PLC0415

    with closing(Database.of(warehouse.settings)) as database:
        copies = [
            (place.name, copy)
            for place in places
            for entity in warehouse.entities.values()
            if place.name in entity.replicate
            for copy in SliceCopies(database, place.name, entity.name).all().values()
        ]
        repaired = Notes(database, LAST_REPAIR).all()
    names = {place.name for place in places}
    newest_first = sorted(
        copies, key=lambda told: (not told[1].is_open, -told[1].changed_at.timestamp(), told[1].slice)
    )
    return newest_first, {name: json.loads(content) for name, content in repaired.items() if name in names}


def _print_status(
    copies: Sequence[tuple[str, SliceCopy]],
    repaired: dict[str, dict[str, Any]],
    limit: int,
    zone: tzinfo,
    *,
    as_json: bool,
) -> None:
    shown = copies[:limit]
    if as_json:
        print_json({"copies": [{"replica": name, **copy.as_data()} for name, copy in shown], "repaired": repaired})
        return
    print_table(_HEADINGS, [_row(name, copy, zone) for name, copy in shown])
    still_open = sum(copy.is_open for _, copy in copies)
    print_line(f"{len(copies) - still_open} published, {still_open} open; {len(copies) - len(shown)} not shown")
    for name, told in repaired.items():
        for line in _repaired_lines(name, told):
            print_line(line)


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
