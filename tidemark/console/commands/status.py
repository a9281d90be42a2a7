"""`tidemark status`: what is late, failed, invalid and waiting, and for what."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.outdated_slices import print_outdated
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.console.warehouse_status import WarehouseStatus
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
    "invalid",
    "running",
    "waiting",
)
_LISTS: Final = ("late", "failed", "invalid", "under_way", "waiting")
_TROUBLE: Final = ("late", "failed", "invalid")
_SHOWN: Final = 20


@click.command()
@click.option("--layer", help="Only the entities of this layer.")
@click.option("--owner", help="Only the entities of this owner.")
@click.option("--all", "everything", is_flag=True, help="Also entities of which every slice is there.")
@json_option
def status(*, layer: str | None, owner: str | None, everything: bool, as_json: bool) -> None:
    """Say which slices are late, failed, invalid, running or waiting, entity by entity, and what they wait for.

    A slice is late when its `ready_by` has passed and it is not there. Of the slices that wait, the first one of each
    entity is followed upstream to where the waiting begins; `tidemark explain` follows any other one.

    \b
    Exit codes: 0 nothing is late, failed or invalid; 1 something is; 2 called wrongly;
                75 the state store or Kafka does not answer.
    With --json: {"now", "entities": [{"entity", "layer", "owner", "completed", "newest", "late": [...],
                  "failed": [...], "invalid": [...], "under_way": [...], "waiting": [...],
                  "waits_for": {"slice", "because": [...]} | null, "outdated": [...]}]}; slices are keys, outdated
                  ones were computed by another version of the query.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.warehouse_status import WarehouseStatus  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    now = datetime.now(UTC)
    stands = WarehouseStatus.of(Settings.load(), now)
    entries = [entry for entry in stands.entries if layer in (None, entry.layer) and owner in (None, entry.owner)]
    if as_json:
        print_json({"now": now.isoformat(), "entities": [_as_data(stands, entry) for entry in entries]})
    else:
        _print(stands, entries if everything else [entry for entry in entries if _is_open(entry)])
        print_outdated({entry.entity: stands.outdated_slices.get(entry.entity, ()) for entry in entries})
        _print_sums(entries)
    is_trouble = any(getattr(entry, name) for entry in entries for name in _TROUBLE)
    raise SystemExit(ExitCode.FAILED if is_trouble else ExitCode.OK)


def _is_open(entry: EntityOverview) -> bool:
    return any(getattr(entry, name) for name in _LISTS)


def _as_data(stands: WarehouseStatus, entry: EntityOverview) -> dict[str, Any]:
    waits = stands.waits_for(entry)
    return {
        "entity": entry.entity,
        "layer": entry.layer,
        "owner": entry.owner,
        "completed": entry.completed,
        "newest": _short(entry.newest) if entry.newest else None,
        **{name: [_short(slice_) for slice_ in getattr(entry, name)] for name in _LISTS},
        "waits_for": {"slice": str(waits[0]), "because": waits[1]} if waits else None,
        "outdated": list(stands.outdated_slices.get(entry.entity, ())),
    }


def _print(stands: WarehouseStatus, entries: Sequence[EntityOverview]) -> None:
    if entries:
        rows = [
            [
                entry.layer,
                entry.entity,
                entry.owner,
                str(entry.completed),
                _short(entry.newest) if entry.newest else "",
                *(_counted(getattr(entry, name)) for name in _LISTS),
            ]
            for entry in entries
        ]
        print_table(_HEADINGS, rows)
    # Entities that wait for the same slice are told together.
    waiting: dict[Slice, tuple[list[str], list[str]]] = {}
    for entry in entries:
        if waits := stands.waits_for(entry):
            waiting.setdefault(waits[0], ([], waits[1]))[0].append(entry.entity)
    for cause, (names, because) in list(waiting.items())[:_SHOWN]:
        own = names == [cause.entity]
        print_line(f"{cause} is not there{'' if own else ': ' + ', '.join(names) + ' wait for it'}", "yellow")
        for reason in because:
            print_line(f"  {reason}")


def _print_sums(entries: Sequence[EntityOverview]) -> None:
    sums = Counter({name: sum(len(getattr(entry, name)) for entry in entries) for name in _LISTS})
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sums.items() if count)
    completed = sum(entry.completed for entry in entries)
    style = "bold red" if any(sums[name] for name in _TROUBLE) else "green"
    print_line(f"{len(entries)} entities, {completed} slices completed{': ' + told if told else ''}", style)


def _counted(slices: Sequence[Slice]) -> str:
    """`3 (2026-03-24 .. 2026-03-26)`; nothing for none."""
    if not slices:
        return ""
    ends = _short(slices[0]) if len(slices) == 1 else f"{_short(slices[0])} .. {_short(slices[-1])}"
    return f"{len(slices)} ({ends})"


def _short(slice_: Slice) -> str:
    """The slice without its entity's name."""
    return str(slice_).partition("@")[2]
