"""`tidemark status`: slices that are late, failed, invalid or waiting, and the reasons."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.outdated_slices import print_outdated
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tidemark.api.lake_status import LakeStatusModel
    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.readiness.overview import EntityOverview
    from tidemark.dependency_model.slice import Slice

_HEADINGS: Final = (
    "layer",
    "entity",
    "owner",
    "completed",
    "newest",
    "late",
    "failed",
    "flaws",
    "running",
    "waiting",
)
_FLAWS: Final = ("invalid", "tainted", "foreign", "absent", "incomplete", "anomalous")
_LISTS: Final = ("late", "failed", *_FLAWS, "under_way", "waiting")
_TROUBLE: Final = ("late", "failed", "invalid", "tainted", "foreign", "absent")
"""States that make the exit code 1; not incomplete or anomalous, which the declaration allows."""
_SHOWN: Final = 20
_AGAIN: Final = timedelta(minutes=1)


@click.command()
@click.option("--layer", help="Only the entities of this layer.")
@click.option("--owner", help="Only the entities of this owner.")
@click.option("--all", "everything", is_flag=True, help="Also entities without any trouble.")
@click.option("--watch", is_flag=True, help="Print again after each change, until Ctrl-C.")
@click.option(
    "--every", default=5.0, show_default=True, type=click.FloatRange(0.1), metavar="SECONDS", help="With --watch."
)
@click.option("--as-of", type=click.DateTime(), help="The state at this time (UTC).")
@json_option
def status(
    *,
    layer: str | None,
    owner: str | None,
    everything: bool,
    watch: bool,
    every: float,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Show which slices are late, failed, flawed, running or waiting, for each entity, and why.

    A slice is late if its `ready_by` has passed and it is not ready. For the first waiting slice of each entity, the
    cause is followed upstream; `tidemark explain` does this for any slice.

    Flaws are: invalid (a rule failed), tainted (an input was found wrong later), foreign (another program changed its
    data), absent (its data was deleted), incomplete (it was computed without some inputs) and anomalous (its rows
    differ from the usual pattern; `tidemark profile` shows how).

    --as-of shows a past time from the stored transitions, with today's entities. For times older than `history_days`,
    only the last state of each slice is known.

    \b
    Exit codes: 0 nothing is late, failed, invalid, tainted, foreign or absent; 1 a slice is, or a table cannot be
    read (with --watch: at the stop); 2 wrong usage; 75 the state store or Kafka does not answer.
    With --json what GET /v1/status answers: {"now", "pressing": [{"kind", "slice", "slices", "entities", "owner",
                  "why", "since", "promises", "command"}], worst first,
                  "entities": [{"entity", "layer", "owner", "completed", "newest", "late": [...],
                  "failed": [...], "invalid": [...], "tainted": [...], "foreign": [...], "absent": [...],
                  "incomplete": [...], "anomalous": [...], "under_way": [...], "waiting": [...],
                  "anomalies": {slice: what is unusual}, "failures": {slice: why the newest failed, and what to do},
                  "waits_for": {"slice", "because": [...]} | null,
                  "outdated": [...]}],
                  "center_trouble": a warning that no center runs, or that it does not work, or empty,
                  "backfills": [{"number", "phase", "asked", "open", "asking"}],
                  "unreadable": {entity: why its table cannot be read},
                  "not_in_iceberg": {entity: why its metadata was not written}}, and "lost_store" if the state store
                  is missing and the lake has tables; slices are keys, outdated ones were
                  computed by another version of the query; open and asking are numbers of slices. With --watch one
                  line for each change.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if as_of is not None and watch:
        raise click.UsageError("--watch and --as-of exclude each other: the past does not change")
    when = as_of.replace(tzinfo=UTC) if as_of else None
    look = StatusLook(layer, owner, everything=everything, as_json=as_json, as_of=when)
    if not watch:
        raise SystemExit(look.tell())
    with stop_signals() as signals:
        raise SystemExit(watched(look, lambda: bool(signals), lambda: time.sleep(every)))


def watched(look: StatusLook, stopped: Callable[[], bool], pause: Callable[[], None]) -> ExitCode:
    """Print the status, and again after each change, until stopped."""
    code = look.tell()
    while not stopped():
        pause()
        if not stopped() and look.is_due(datetime.now(UTC)):
            code = look.tell()
    return code


@dataclass
class StatusLook:
    """The chosen entities and the format; remembers the last output."""

    layer: str | None
    owner: str | None
    everything: bool
    as_json: bool
    as_of: datetime | None = None
    _seen: int = -1
    _is_lost: bool = False
    _looked_at: datetime | None = None
    _shown: LakeStatusModel | None = None

    def tell(self) -> ExitCode:
        """Print the present status if it differs from the last printed one."""
        from tidemark.api.lake_status import lake_status  # noqa: PLC0415 - keeps --help fast
        from tidemark.api.warehouse_status import WarehouseStatus  # noqa: PLC0415
        from tidemark.state_store.lost_file import is_lost  # noqa: PLC0415
        from tidemark.system.settings import Settings  # noqa: PLC0415

        self._looked_at = datetime.now(UTC)
        settings = Settings.load()
        self._is_lost = is_lost(settings)
        stands = WarehouseStatus.of(settings, self.as_of or self._looked_at, is_past=self.as_of is not None)
        self._seen = stands.store.read.last() if stands.store else 0
        entries = [entry for entry in stands.entries if self._is_wanted(entry)]
        told = lake_status(stands, entries, is_past=self.as_of is not None)
        shown = told.model_copy(update={"now": None, "pressing": []})
        if shown != self._shown:
            self._print(stands, entries, told)
        self._shown = shown
        if stands.store:
            stands.store.close()
        is_trouble = bool(told.unreadable) or any(getattr(entry, name) for entry in entries for name in _TROUBLE)
        return ExitCode.FAILED if is_trouble or self._is_lost else ExitCode.OK

    def is_due(self, now: datetime) -> bool:
        """Whether any slice changed, or a minute has passed: a slice may be late now."""
        from tidemark.state_store.store import StateStore  # noqa: PLC0415
        from tidemark.system.settings import Settings  # noqa: PLC0415

        settings = Settings.load()
        if self._looked_at is None or now - self._looked_at >= _AGAIN:
            return True
        if not settings.state and not settings.state_db.exists():
            return False
        store = StateStore.of(settings)
        try:
            return store.read.last() != self._seen
        finally:
            store.close()

    def _print(self, stands: WarehouseStatus, entries: Sequence[EntityOverview], told: LakeStatusModel) -> None:
        from tidemark.console.open_backfills import print_open_backfills  # noqa: PLC0415
        from tidemark.state_store.lost_file import BUILT_AGAIN  # noqa: PLC0415

        if self.as_json:
            print_json(told.model_dump(mode="json") | ({"lost_store": BUILT_AGAIN} if self._is_lost else {}))
            return
        if self._is_lost:
            print_line(BUILT_AGAIN, "bold red")
        if told.center_trouble and not stands.without_center:
            print_line(told.center_trouble, "bold red")
        for name, why in told.unreadable.items():
            print_line(f"the table of {name} cannot be read: {why}", "bold red")
        for name, why in told.not_in_iceberg.items():
            print_line(f"the newest slices of {name} are not in Iceberg, and it is tried again: {why}", "yellow")
        _print(stands, entries if self.everything else [entry for entry in entries if _is_open(entry)])
        print_outdated({entry.entity: stands.outdated_slices.get(entry.entity, ()) for entry in entries})
        print_open_backfills(told.backfills)
        if stands.without_center and any(entry.waiting or entry.under_way for entry in entries):
            print_line(stands.without_center, "yellow")
        _print_sums(entries)

    def _is_wanted(self, entry: EntityOverview) -> bool:
        return self.layer in (None, entry.layer) and self.owner in (None, entry.owner)


def _is_open(entry: EntityOverview) -> bool:
    return any(getattr(entry, name) for name in _LISTS)


def _print(stands: WarehouseStatus, entries: Sequence[EntityOverview]) -> None:
    if entries:
        rows = [
            [
                entry.layer,
                entry.entity,
                entry.owner,
                str(entry.completed),
                _short(entry.newest) if entry.newest else "",
                *(_counted(getattr(entry, name)) for name in ("late", "failed")),
                _flaws(entry),
                *(_counted(getattr(entry, name)) for name in ("under_way", "waiting")),
            ]
            for entry in entries
        ]
        print_table(_HEADINGS, rows)
    unusual = [slice_ for entry in entries for slice_ in entry.anomalous]
    for slice_ in unusual[-_SHOWN:]:
        print_line(f"{slice_} is unusual: {stands.anomalies[slice_]}", "yellow")
    # Entities that wait for the same slice share a line.
    waiting: dict[Slice, tuple[list[str], list[str]]] = {}
    for entry in entries:
        if waits := stands.waits_for(entry):
            waiting.setdefault(waits[0], ([], waits[1]))[0].append(entry.entity)
    for entry in entries:
        _print_failure(stands, entry, waiting)
    for cause, (names, because) in list(waiting.items())[:_SHOWN]:
        own = names == [cause.entity]
        print_line(f"{cause} is not there{'' if own else ': ' + ', '.join(names) + ' wait for it'}", "yellow")
        for reason in because:
            print_line(f"  {reason}")


def _print_failure(stands: WarehouseStatus, entry: EntityOverview, waited_for: Collection[Slice]) -> None:
    """The reason of the newest failed slice, unless it is printed already as the cause of others."""
    for slice_ in entry.failed[-1:]:
        if slice_ not in waited_for:
            more = f" (and {len(entry.failed) - 1} before it)" if entry.failed[1:] else ""
            why, *rest = stands.failure(slice_)
            print_line(f"{slice_}{more} {why}", "red")
            for line in rest:
                print_line(f"  {line}")


def _print_sums(entries: Sequence[EntityOverview]) -> None:
    sums = Counter({name: sum(len(getattr(entry, name)) for entry in entries) for name in _LISTS})
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sums.items() if count)
    completed = sum(entry.completed for entry in entries)
    style = "bold red" if any(sums[name] for name in _TROUBLE) else "green"
    print_line(f"{len(entries)} entities, {completed} slices completed{': ' + told if told else ''}", style)


def _flaws(entry: EntityOverview) -> str:
    """`1 invalid (2026-03-24), 2 absent (2026-03-24 .. 2026-03-26)`."""
    counted = ((name, _counted(getattr(entry, name))) for name in _FLAWS)
    return ", ".join(" ".join((text.split(" ")[0], name, *text.split(" ")[1:])) for name, text in counted if text)


def _counted(slices: Sequence[Slice]) -> str:
    """`3 (2026-03-24 .. 2026-03-26)`; empty for none."""
    if not slices:
        return ""
    ends = _short(slices[0]) if len(slices) == 1 else f"{_short(slices[0])} .. {_short(slices[-1])}"
    return f"{len(slices)} ({ends})"


def _short(slice_: Slice) -> str:
    """The slice without the name of its entity."""
    return str(slice_).partition("@")[2]
