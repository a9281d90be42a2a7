"""The arguments of a probe: one slice, and its connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.entity.quality_rules import RowCount, check_names
from tidemark.dependency_model.entity.slice_text import slice_text
from tidemark.dependency_model.time.partition_columns import clock_values
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.quality_rules import QualityRule
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.window import Window


@dataclass(frozen=True, slots=True)
class ProbedSlice:
    """One external slice. `window` is None for a static one; `time_zone` is the clock of its sub-partition.

    `times` are its columns of time as text, such as `dt`. `rules` are the rules that its source must count, by name.
    """

    slice: Slice
    window: Window | None
    time_zone: str
    rules: Mapping[str, QualityRule] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: DependencyGraph, slice_: Slice) -> ProbedSlice:
        """The slice in a graph. Raises ParseError for an invalid one."""
        node, entity = graph.node(slice_.entity), graph.entity(slice_.entity)
        window = None if node.grid is None else graph.window(slice_)
        time_zone = node.calendar_of(slice_.sub).time_zone
        return cls(slice_, window, time_zone, _counted_rules(entity), _times(entity, slice_, window, time_zone))

    def text(self, template: str) -> str:
        """A text with its placeholders filled in for this slice."""
        named = {**self.times, **dict(self.slice.sub)}
        return slice_text(template, self.slice.key, self.window, self.time_zone, named)

    def texts(self, templates: Mapping[str, str]) -> dict[str, str]:
        """The values with their placeholders filled in for this slice."""
        return {name: self.text(template) for name, template in templates.items()}


def _counted_rules(entity: Entity) -> dict[str, QualityRule]:
    named = zip(check_names(entity.quality), entity.quality, strict=True)
    return {name: rule for name, rule in named if not isinstance(rule, RowCount)}


def _times(entity: Entity, slice_: Slice, window: Window | None, time_zone: str) -> dict[str, str]:
    """The columns of time in the slice's rows, as text."""
    if window is None or entity.period is None:
        return {}
    day = window.start.astimezone(zone_info(time_zone)).date()
    clock = clock_values(slice_.key)[1:] if entity.period.is_clock else ()
    return {column.name: str(column.value(day, *clock)) for column in entity.times}


class Materializations(Protocol):
    """Materializations in Dagster's event log, of this and other code locations."""

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        """(number of the event, rows) of the newest materialization; None without one."""


class CountedRecords(Protocol):
    """Counts of records by event time, in minutes since 1970-01-01T00:00Z."""

    def within(self, name: str, first: int, end: int) -> list[tuple[int, str, str, int]]:
        """(minute, side, part, records) of the minutes `[first, end)`."""

    def final_until(self, name: str) -> int:
        """The minute up to which the source's counts are final."""


@dataclass(frozen=True, slots=True)
class ProbeContext:
    """The environment of probes. `clock` is aware; no probe may take longer than `timeout_seconds`."""

    secrets: ConnectionSecrets
    clock: Callable[[], datetime]
    materializations: Materializations
    counts: CountedRecords
    timeout_seconds: int = 20


class SliceProbe(Protocol):
    """A probe, also the interface of entry points in the group `tidemark.probes`.

    Raises ProbeError if the source does not answer; other errors count the same.
    """

    def __call__(self, source: object, probed: ProbedSlice, context: ProbeContext, /) -> Sight: ...
