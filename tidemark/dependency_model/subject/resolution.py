"""From a subject to the slices that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.errors import NoSuchSliceError, ParseError
from tidemark.dependency_model.subject.moment import Stretch, hours_of, stretches
from tidemark.dependency_model.suggestion import did_you_mean, shown
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.subject.subject import DependencySubject
    from tidemark.dependency_model.subject.subject_id import Values
    from tidemark.dependency_model.time.calendar import Calendar


def resolve(
    subject: DependencySubject, graph: DependencyGraph, tasks: Mapping[str, str] | None = None
) -> tuple[Slice, ...]:
    """The slices, in order of time, part by part.

    A date stands for every slice inside it, or for the one that it lies in; slices before the entity's start are left
    out. `tasks` translates a scheduler's task ids to entities. Raises UnknownEntityError, and ParseError for a date or
    partition that there is not.
    """
    name = subject.entity(tasks)
    entity = graph.entity(name)
    _check_partitions(subject, {dimension: list(parts) for dimension, parts in entity.sub_partitions.items()})
    if entity.is_static:
        found = graph.slices_within(name, Window.of_seconds(0, 1))
    else:
        windows = (Window.of_seconds(*stretch) for stretch in _stretches(subject, entity.calendar))
        found = tuple(slice_ for window in windows for slice_ in graph.slices_within(name, window))
    return tuple(dict.fromkeys(slice_ for slice_ in found if _is_named(subject, slice_)))


def _check_partitions(subject: DependencySubject, declared: Mapping[str, list[str]]) -> None:
    for dimension, values in subject.partitions.items():
        known = declared.get(dimension, [])
        for value in values.values:
            if value not in known:
                raise NoSuchSliceError(
                    "no such partition",
                    expected=", ".join(known) or f"no condition '{dimension}'",
                    found=f"{dimension}={value}",
                    hint=did_you_mean(value, known),
                )


def _is_named(subject: DependencySubject, slice_: Slice) -> bool:
    part = dict(slice_.sub)
    return all(part.get(dimension) in values.values for dimension, values in subject.partitions.items())


def _stretches(subject: DependencySubject, calendar: Calendar) -> Iterator[Stretch]:
    if subject.dates is None:
        raise ParseError("a subject without a date stands for no slices", found=shown(str(subject.id)))
    if subject.hours is not None:
        for day in _days(subject.dates, calendar):
            for hour in _hours(subject.hours):
                yield from hours_of(day, hour, calendar)
    elif subject.dates.is_range:
        yield _from_to(subject.dates, calendar)
    else:
        for text in subject.dates.values:
            yield from stretches(text, calendar)


def _from_to(dates: Values, calendar: Calendar) -> Stretch:
    first, last = (stretches(text, calendar) for text in dates.values)
    if not first or not last or first[0][0] >= last[-1][1]:
        raise ParseError("an empty range of dates", found=shown(str(dates)))
    return first[0][0], last[-1][1]


def _days(dates: Values, calendar: Calendar) -> Iterator[str]:
    """The keys of the days that dates or a range of them stand for."""
    grid = calendar.grid(Period.DAY)
    pieces = (
        [_from_to(dates, calendar)] if dates.is_range else [s for t in dates.values for s in stretches(t, calendar)]
    )
    for start, end in pieces:
        yield from (grid.key(day) for day in range(grid.at(start), grid.at(end - 1) + 1))


def _hours(hours: Values) -> tuple[str, ...]:
    if not hours.is_range:
        return hours.values
    first, last = hours.values
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) <= 23):
        raise ParseError("this is no range of hours", expected="00..23", found=shown(str(hours)))
    return tuple(f"{hour:02}" for hour in range(int(first), int(last) + 1))
