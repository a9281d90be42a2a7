"""An explanation of a slice, for people and for programs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tidemark.console.output import print_line, print_table
from tidemark.dependency_model.status import Quality, RunState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.explanation import Clause, Explanation
    from tidemark.dependency_model.slice import Slice

_SHOWN = 4
_STYLES = {"ok": "green", "waiting": "yellow"}


def as_data(found: Explanation, *, exists: bool) -> dict[str, object]:
    """The explanation for programs; instants in UTC, ISO 8601."""
    return {
        "slice": str(found.slice),
        "exists": exists,
        "window": {"start": found.window.start.isoformat(), "end": found.window.end.isoformat()},
        "not_before": found.not_before.isoformat(),
        "ready_by": found.promised.isoformat() if found.promised else None,
        "status": _status(found),
        "waits_for": [str(slice_) for slice_ in found.release.missing] if found.release else None,
        "needs": [_clause_data(clause) for clause in found.clauses],
        "needed_by": [str(slice_) for slice_ in found.downstream],
    }


def _status(found: Explanation) -> dict[str, object] | None:
    status = found.status
    if status is None:
        return None
    return {
        "run_state": status.run_state.value,
        "states": sorted(status.states),
        "quality": status.quality.value,
        "valid": status.valid,
        "tainted": status.tainted,
        "generation": status.generation,
    }


def _clause_data(clause: Clause) -> dict[str, object]:
    dependency, verdict = clause.requirement.dependency, clause.verdict
    return {
        "entity": dependency.entity,
        "offset": str(dependency.offset),
        "states": list(dependency.states),
        "strength": dependency.strength,
        "or_older": clause.requirement.or_older,
        "slices": [str(slice_) for slice_ in clause.requirement.slices],
        "met": verdict.met if verdict else None,
        "missing": [str(slice_) for slice_ in verdict.missing] if verdict else None,
    }


def print_explanation(graph: DependencyGraph, found: Explanation, *, exists: bool) -> None:
    """The explanation for people: how the slice stands, its times, what it needs, what needs it."""
    entity = graph.entity(found.slice.entity)
    print_line(f"{found.slice.entity} {found.slice.key} [{entity.period or 'static'}]{_standing(found)}", "bold")
    if not exists:
        ends = f", ends at {entity.end}" if entity.end else ""
        print_line(f"  does not exist: {entity.name} starts at {entity.start}{ends}", "yellow")
    for name, words in _times(entity, found):
        print_line(f"  {name:12} {words}")
    print_line("needs" if found.clauses else "needs nothing that is declared")
    rows = list(_rows(found, "  "))
    print_table(["", "entity", "offset", "slices", ""], rows, [_STYLES.get(row[0].strip(), "") for row in rows])
    print_line("is needed by" if found.downstream else "is needed by nothing that is declared")
    by_entity = groupby(found.downstream, key=lambda slice_: slice_.entity)
    print_table(["", "entity", "slices"], [["  ", name, _listed(slices)] for name, slices in by_entity])


def _standing(found: Explanation) -> str:
    """` is completed`, ` is waiting for 1 of 3`; nothing where nothing is known."""
    status, release = found.status, found.release
    if status is None or release is None:
        return ""
    if status.run_state is RunState.WAITING and release.missing:
        unmet = sum(not verdict.met for verdict in release.verdicts)
        return f" is waiting for {unmet} of {len(release.verdicts)}"
    flaws = {"tainted": status.tainted, "invalid": bool(status.issues)}
    if status.run_state is RunState.COMPLETED and status.quality is Quality.UNKNOWN:
        flaws["not checked yet"] = True
    return f" is {', '.join([status.run_state.value, *(name for name, holds in flaws.items() if holds)])}"


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


def _rows(found: Explanation, indent: str) -> Iterator[list[str]]:
    """A row a clause; below one that is not met, what its missing slices wait for themselves."""
    for clause in found.clauses:
        verdict = clause.verdict
        mark = "" if verdict is None else "ok" if verdict.met else "waiting"
        missing = verdict.missing if verdict and not verdict.met else ()
        yield [f"{indent}{mark}", *_clause(clause, missing)]
        for deeper in clause.missing if missing else ():
            yield from _rows(deeper, f"{indent}  ")


def _clause(clause: Clause, missing: tuple[Slice, ...]) -> list[str]:
    requirement, dependency = clause.requirement, clause.requirement.dependency
    notes = []
    if missing and len(missing) < len(requirement.slices):
        notes.append(f"missing {_listed(missing)}")
    if requirement.or_older:
        notes.append("or the newest before it")
    if dependency.weak:
        notes.append("weak")
    if dependency.quality == "ignore":
        notes.append("whatever its quality")
    if dependency.states != ("completed",):
        notes.append(" or ".join(dependency.states))
    return [dependency.entity, str(dependency.offset), _listed(requirement.slices), ", ".join(notes)]


def _listed(slices: Iterable[Slice]) -> str:
    """A few slices by name, many by their ends."""
    names = [str(slice_).partition("@")[2] for slice_ in slices]
    if not names:
        return "none exists"
    return ", ".join(names) if len(names) <= _SHOWN else f"{names[0]} .. {names[-1]} ({len(names)})"
