"""`tidemark explain`: what one slice waits for, and what waits for it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from console.exit_codes import ExitCode
from console.output import json_option, print_json, print_line, print_table
from console.roots import declarations_of, root_option
from dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, tzinfo
    from pathlib import Path

    from dependency_model.entity import Entity
    from dependency_model.graph import DependencyGraph
    from dependency_model.readiness.explanation import Explanation

_SHOWN = 4


@click.command()
@click.argument("entity")
@click.argument("slice_key", metavar="SLICE")
@click.option("--state", default="completed", show_default=True, help="The state to reach, such as estimated.")
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@root_option
@json_option
def explain(entity: str, slice_key: str, *, state: str, parts: Sequence[str], root: Path, as_json: bool) -> None:
    """Say what a slice waits for, slice by slice and why, and what waits for it.

    SLICE is the business time that the entity is cut by: a day 2026-03-29, an hour 2026-03-29T03 (the second 02 of an
    autumn night is 2026-10-25T02+01:00), a week by its first day, a month 2026-03, a quarter 2026-Q1, a year 2026;
    `static` for an entity without periods.

    \b
    Exit codes: 0 explained, 1 no such entity or slice, or it is before the entity's start; 2 called wrongly.
    With --json: {"slice", "exists", "window", "not_before", "ready_by",
                  "needs": [{"entity", "offset", "states", "strength", "or_older", "slices"}], "needed_by": [...]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from dependency_model.graph import DependencyGraph  # noqa: PLC0415 - keeps --help fast
    from dependency_model.readiness.explanation import explain as explained  # noqa: PLC0415

    graph = DependencyGraph.build(declarations_of(root).checked().entities)
    piece = Slice(entity, slice_key, _parts(parts))
    found, exists = explained(graph, piece, state=state), graph.exists(piece)
    if as_json:
        print_json(as_data(found, exists=exists))
    else:
        _print(graph, found, exists=exists)
    raise SystemExit(ExitCode.OK if exists else ExitCode.FAILED)


def as_data(found: Explanation, *, exists: bool) -> dict[str, object]:
    """The explanation for programs; instants in UTC, ISO 8601."""
    return {
        "slice": str(found.piece),
        "exists": exists,
        "window": {"start": found.window.start.isoformat(), "end": found.window.end.isoformat()},
        "not_before": found.not_before.isoformat(),
        "ready_by": found.promised.isoformat() if found.promised else None,
        "needs": [
            {
                "entity": clause.requirement.dependency.entity,
                "offset": str(clause.requirement.dependency.offset),
                "states": list(clause.requirement.dependency.states),
                "strength": clause.requirement.dependency.strength,
                "or_older": clause.requirement.or_older,
                "slices": [str(piece) for piece in clause.requirement.slices],
            }
            for clause in found.clauses
        ],
        "needed_by": [str(piece) for piece in found.users],
    }


def _parts(parts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = [part.partition("=") for part in parts]
    if any(not equals for _, equals, _ in pairs):
        raise click.BadParameter("expected DIMENSION=VALUE", param_hint="--part")
    return tuple(sorted((dimension, value) for dimension, _, value in pairs))


def _print(graph: DependencyGraph, found: Explanation, *, exists: bool) -> None:
    entity = graph.entity(found.piece.entity)
    print_line(f"{found.piece.entity} {found.piece.key} [{entity.period or 'static'}]", "bold")
    if not exists:
        print_line(f"  does not exist: {entity.name} starts at {entity.start}", "yellow")
    for name, words in _times(entity, found):
        print_line(f"  {name:12} {words}")
    print_line("needs" if found.clauses else "needs nothing that is declared")
    print_table(
        ["", "entity", "offset", "slices", ""], [["  ", *_clause(found, at)] for at in range(len(found.clauses))]
    )
    print_line("is needed by" if found.users else "is needed by nothing that is declared")
    users = groupby(found.users, key=lambda piece: piece.entity)
    print_table(["", "entity", "slices"], [["  ", name, _listed(pieces)] for name, pieces in users])


def _times(entity: Entity, found: Explanation) -> Iterable[tuple[str, str]]:
    zone = ZoneInfo(entity.time_zone) if "/" in entity.time_zone else found.window.start.tzinfo
    if not entity.is_static:
        start, end = (_local(instant, zone) for instant in (found.window.start, found.window.end))
        yield "window", f"{start} to {end} {entity.time_zone}"
        yield "not before", _local(found.not_before, zone)
    if found.promised:
        yield "ready by", _local(found.promised, zone)


def _local(instant: datetime, zone: tzinfo | None) -> str:
    return instant.astimezone(zone).isoformat(sep=" ", timespec="minutes")


def _clause(found: Explanation, at: int) -> list[str]:
    requirement = found.clauses[at].requirement
    dependency = requirement.dependency
    notes = []
    if requirement.or_older:
        notes.append("or the newest before it")
    if dependency.weak:
        notes.append("weak")
    if dependency.quality == "ignore":
        notes.append("whatever its quality")
    if dependency.states != ("completed",):
        notes.append(" or ".join(dependency.states))
    return [dependency.entity, str(dependency.offset), _listed(requirement.slices), ", ".join(notes)]


def _listed(pieces: Iterable[Slice]) -> str:
    """A few slices by name, many by their ends."""
    names = [str(piece).partition("@")[2] for piece in pieces]
    if not names:
        return "none exists"
    return ", ".join(names) if len(names) <= _SHOWN else f"{names[0]} .. {names[-1]} ({len(names)})"
