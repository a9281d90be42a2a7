"""Prints the explanation of a slice; `tidemark.api.explanation` has the JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from tidemark.console.output import print_line, print_table
from tidemark.dependency_model.refresh.delivery import RefreshAction
from tidemark.dependency_model.status import Quality, RunState
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

    from tidemark.api.slice_background import Background
    from tidemark.api.slice_provenance import SliceRecord
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.explanation import Clause, Explanation
    from tidemark.dependency_model.refresh.delivery import SliceDelivery
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.slice_copies import SliceCopy

_SHOWN = 4
_STYLES = {"ok": "green", "waiting": "yellow"}


def print_explanation(
    graph: DependencyGraph, explanation: Explanation, background: Background, *, exists: bool
) -> None:
    """Print the explanation: status, times, upstream and downstream slices."""
    entity = graph.entity(explanation.slice.entity)
    print_line(
        f"{explanation.slice.entity} {explanation.slice.key} [{entity.period or 'static'}]{_summary(explanation)}",
        "bold",
    )
    if not exists:
        ends = f", ends at {entity.end}" if entity.end else ""
        print_line(f"  does not exist: {entity.name} starts at {entity.start}{ends}", "yellow")
    for name, words in (*_times(entity, explanation), *_record(entity, background.record)):
        print_line(f"  {name:12} {words}")
    for place, copy in background.copies.items():
        for words in _copy(place, copy, zone_info(entity.time_zone)):
            print_line(f"  {'replicated':12} {words}", "yellow" if copy.reason else None)
    for target, delivery in background.deliveries.items():
        words = _delivery(target, delivery, zone_info(entity.time_zone))
        print_line(f"  {'refreshed':12} {words}", "yellow" if delivery.reason else None)
    if background.taint:
        since = _local(background.taint.since, zone_info(entity.time_zone))
        print_line(f"  {'tainted':12} {background.taint.why} (by {background.taint.who}, {since})", "red")
    for words in background.outdated:
        print_line(f"  {'outdated':12} {words}", "yellow")
    for words in background.failure:
        print_line(f"  {words}", "red")
    for reason in background.held_back.get(explanation.slice, ()):
        print_line(f"  {'held back by':12} {reason}", "yellow")
    print_line("upstream" if explanation.clauses else "reads no other table")
    rows = list(_rows(explanation, background, "  "))
    print_table(["", "entity", "offset", "slices", ""], rows, [_STYLES.get(row[0].strip(), "") for row in rows])
    print_line("downstream" if explanation.downstream else "is read by no other table")
    by_entity = groupby(explanation.downstream, key=lambda slice_: slice_.entity)
    print_table(["", "entity", "slices"], [["  ", name, _listed(slices)] for name, slices in by_entity])


def _summary(explanation: Explanation) -> str:
    """` is completed`, ` is waiting for 1 of 3`; empty if nothing is known."""
    status, release = explanation.status, explanation.release
    if status is None or release is None:
        return ""
    if status.run_state is RunState.WAITING and release.missing:
        unmet = sum(not verdict.is_met for verdict in release.verdicts)
        return f" is waiting for {unmet} of {len(release.verdicts)}"
    flaws = {"tainted": status.tainted, "invalid": bool(status.issues)}
    if status.run_state is RunState.COMPLETED and status.quality is Quality.UNKNOWN:
        flaws["not checked yet"] = True
    return f" is {', '.join([status.run_state.value, *(name for name, holds in flaws.items() if holds)])}"


def _times(entity: Entity, explanation: Explanation) -> Iterable[tuple[str, str]]:
    zone = zone_info(entity.time_zone)
    if not entity.is_static:
        start, end = (_local(instant, zone) for instant in (explanation.window.start, explanation.window.end))
        yield "window", f"{start} to {end} {entity.time_zone}"
        yield "not before", _local(explanation.not_before, zone)
    if explanation.promised:
        yield "ready by", _local(explanation.promised, zone)


def _local(instant: datetime, zone: tzinfo | None) -> str:
    return instant.astimezone(zone).isoformat(sep=" ", timespec="minutes")


def _record(entity: Entity, record: SliceRecord | None) -> Iterator[tuple[str, str]]:
    """How the slice was computed: a line for the run, one for its output, one for each upstream."""
    if record is None:
        return
    run = f" by run {record.run_id}" if record.run_id else f", reported by {record.who}"
    yield "completed", f"{_local(record.completed_at, zone_info(entity.time_zone))}{run}"
    figures = {"{} rows": record.rows, "{} bytes": record.size_bytes, "table version {}": record.version}
    told = [words.format(value) for words, value in figures.items() if value is not None]
    if told:
        yield "wrote", ", ".join(told)
    yield from _origin(record.parameters.get("replica"))
    for read in record.read:
        many = f" to {read.last} ({read.slices})" if read.slices > 1 else ""
        version = "" if read.version is None else f", table version {read.version}"
        yield "read", f"{read.first}{many}, generation {read.generation}{version}"


def _origin(told: object) -> Iterator[tuple[str, str]]:
    """The facts that travelled with a slice of a replica: its generation, version, quality, run and inputs."""
    if not isinstance(told, dict):
        return
    run = f", run {told['run']}" if told.get("run") else ""
    quality = f", quality {told['quality']}" if told.get("quality") else ""
    yield "replica of", f"{told['slice']}, generation {told['generation']}, version {told['version']}{quality}{run}"
    read = [f"{input_['slice']} (generation {input_['generation']})" for input_ in told.get("read", ())]
    if read:
        more = f" and {told['inputs'] - _SHOWN} more" if told["inputs"] > _SHOWN else ""
        yield "read there", f"{', '.join(read[:_SHOWN])}{more}"


def _copy(place: str, copy: SliceCopy, zone: tzinfo) -> Iterator[str]:
    """The published generation at a place, and the next one."""
    if copy.published:
        yield f"to {place} at {_local(copy.published.at, zone)}, verified, generation {copy.published.generation}"
    if copy.is_open:
        why = f": {copy.reason}" if copy.reason else ""
        yield f"not yet to {place}: generation {copy.generation} is {copy.state.value}{why}"


def _delivery(target: str, delivery: SliceDelivery, zone: tzinfo) -> str:
    """The delivered generation at a target, or why the newest is not delivered."""
    if delivery.is_open:
        why = f": {delivery.reason}" if delivery.reason else ""
        return f"not yet {target}: {delivery.standing.action.value} of generation {delivery.standing.generation}{why}"
    done = "invalidated at" if delivery.standing.action is RefreshAction.INVALIDATE else "at"
    at = _local(delivery.taken_at, zone) if delivery.taken_at else ""
    return f"{target} {done} {at}, generation {delivery.standing.generation}"


def _rows(explanation: Explanation, background: Background, indent: str) -> Iterator[list[str]]:
    """One row for each clause; below an unmet one, the reasons of its missing slices."""
    for clause in explanation.clauses:
        verdict = clause.verdict
        mark = "" if verdict is None else "ok" if verdict.is_met else "waiting"
        missing = verdict.missing if verdict and not verdict.is_met else ()
        yield [f"{indent}{mark}", *_clause(clause, missing)]
        for deeper in clause.missing if missing else ():
            reasons = background.held_back.get(deeper.slice, ())
            yield from ([f"{indent}  held back", deeper.slice.entity, "", deeper.slice.key, why] for why in reasons)
            yield from _rows(deeper, background, f"{indent}  ")


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
        notes.append("with any quality")
    if requirement.beyond is not None:
        notes.append(f"watermark from {datetime.fromtimestamp(requirement.beyond, UTC):%Y-%m-%dT%H:%M:%SZ}")
    if dependency.states != ("completed",):
        notes.append(" or ".join(dependency.states))
    return [dependency.entity, str(dependency.offset), _listed(requirement.slices), ", ".join(notes)]


def _listed(slices: Iterable[Slice]) -> str:
    """A few slices by name, many by first and last."""
    names = [str(slice_).partition("@")[2] for slice_ in slices]
    if not names:
        return "none exists"
    return ", ".join(names) if len(names) <= _SHOWN else f"{names[0]} .. {names[-1]} ({len(names)})"
