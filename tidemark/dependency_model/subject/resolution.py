"""Resolves a subject, or its text, to slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.subject.date_conditions import Stretch, hours_of, stretches
from tidemark.dependency_model.subject.request_limit import Allowance
from tidemark.dependency_model.subject.subject import DependencySubject, Instance
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.period import Period
from tidemark.errors import NoSuchSliceError, ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.declared_edges import DeclaredEdges
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.subject.subject_id import ConditionValues
    from tidemark.dependency_model.time.local_calendar import Calendar


def slices_of(
    text: str,
    graph: DependencyGraph,
    allowance: Allowance | None = None,
    instance_of: Callable[[Slice], Instance] | None = None,
) -> tuple[Slice, ...]:
    """The slices of a subject id (`table=ods_orders&&dt=20260329`) or of a slice's text (`ods_orders@2026-03-29`).

    The condition `instance` filters them by `instance_of`; without it, the condition is refused. Raises ParseError and
    UnknownEntityError.
    """
    if "=" in text.partition("@")[0]:
        subject = DependencySubject.parse(text)
        slices = resolve(subject, graph, allowance=allowance)
        if subject.instance is None:
            return slices
        if instance_of is None:
            raise ParseError("the condition instance only filters existing slices", found=quote_value(text))
        return tuple(slice_ for slice_ in slices if instance_of(slice_) is subject.instance)
    named = Slice.parse(text)
    graph.window(named)
    (allowance or Allowance()).take_slices(1)
    return (named,)


def resolve(
    subject: DependencySubject,
    graph: DependencyGraph,
    allowance: Allowance | None = None,
) -> tuple[Slice, ...]:
    """The slices, in order of time and then of sub-partition.

    A date means every slice inside it, or the slice that contains it. Slices before the entity's start are left out. A
    scheduler's task id means the entity with this `task_id`. Raises UnknownEntityError, and ParseError for an invalid
    date or partition and for more slices than the allowance has.
    """
    allowance = allowance or Allowance()
    node = graph.node(subject.entity(graph.kept(entities_of_tasks)))
    _check_partitions(subject, {dimension: list(values) for dimension, values in node.entity.sub_partitions.items()})
    subs = [sub for sub in node.subs if _is_named(subject, sub)]
    if node.grid is None:
        allowance.take_slices(1)
        return tuple(node.slice(0, sub) for sub in subs[:1])
    windows = tuple(_stretches(subject, node.entity.calendar, allowance))
    ordinals = [(sub, _existing_within(node, sub, window)) for window in windows for sub in subs]
    allowance.take_slices(sum(len(numbers) for _, numbers in ordinals))
    return tuple(dict.fromkeys(node.slice(number, sub) for sub, numbers in ordinals for number in numbers))


def entities_of_tasks(edges: DeclaredEdges) -> dict[str, str]:
    """The entity of each task of a scheduler."""
    return {node.entity.task_id: name for name, node in edges.nodes.items() if node.entity.task_id}


def no_slice_then(graph: DependencyGraph, entity: str, named: str) -> NoSuchSliceError:
    """The error for a time at which an entity has no slice. Raises UnknownEntityError."""
    declared = graph.entity(entity)
    ends = f", ends at {declared.end}" if declared.end else ""
    return NoSuchSliceError(
        f"{entity} has no slice at this time", expected=f"it starts at {declared.start}{ends}", found=named
    )


def _existing_within(node: Node, sub: Sub, window: Stretch) -> range:
    """The numbers of the existing slices that overlap a window."""
    grid, existing = node.grid_of(sub), node.existing_of(sub)
    if grid is None:
        return range(0)
    start, end = window
    return range(max(grid.at(start), existing.start), min(grid.at(end - 1) + 1, existing.stop))


def _check_partitions(subject: DependencySubject, declared: Mapping[str, list[str]]) -> None:
    for dimension, values in subject.partitions.items():
        known = declared.get(dimension, [])
        for value in values.values:
            if value not in known:
                raise NoSuchSliceError(
                    "the entity has no such partition",
                    expected=", ".join(known) or f"no condition '{dimension}'",
                    found=f"{dimension}={value}",
                    hint=did_you_mean(value, known),
                )


def _is_named(subject: DependencySubject, sub: Sub) -> bool:
    values_of = dict(sub)
    return all(values_of.get(dimension) in values.values for dimension, values in subject.partitions.items())


def _stretches(subject: DependencySubject, calendar: Calendar, allowance: Allowance) -> Iterator[Stretch]:
    if subject.dates is None:
        raise ParseError("a subject without a date has no slices", found=quote_value(str(subject.id)))
    allowance.take_dates(len(subject.dates.values))
    if subject.hours is not None:
        yield from _hours_of_days(subject.dates, subject.hours, calendar, allowance)
    else:
        yield from _dates(subject.dates, calendar)


def _dates(dates: ConditionValues, calendar: Calendar) -> list[Stretch]:
    if dates.is_range:
        return [_from_to(dates, calendar)]
    return [window for text in dates.values for window in stretches(text, calendar)]


def _hours_of_days(
    dates: ConditionValues, hours: ConditionValues, calendar: Calendar, allowance: Allowance
) -> Iterator[Stretch]:
    """These hours of each day in the dates."""
    grid, names = calendar.grid(Period.DAY), _hours(hours)
    days = [range(grid.at(start), grid.at(end - 1) + 1) for start, end in _dates(dates, calendar)]
    allowance.take_dates(sum(map(len, days)) * len(names))
    for day in (grid.key(number) for numbers in days for number in numbers):
        for hour in names:
            yield from hours_of(day, hour, calendar)


def _from_to(dates: ConditionValues, calendar: Calendar) -> Stretch:
    first, last = (stretches(text, calendar) for text in dates.values)
    if not first or not last or first[0][0] >= last[-1][1]:
        raise ParseError("the range of dates is empty", found=quote_value(str(dates)))
    return first[0][0], last[-1][1]


def _hours(hours: ConditionValues) -> tuple[str, ...]:
    if not hours.is_range:
        return hours.values
    first, last = hours.values
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) <= 23):
        raise ParseError("this is not a range of hours", expected="00..23", found=quote_value(str(hours)))
    return tuple(f"{hour:02}" for hour in range(int(first), int(last) + 1))
