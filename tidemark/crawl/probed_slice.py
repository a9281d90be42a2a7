"""What a probe is asked about, and with what: one slice, and the edge of the process."""

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
    """One external slice; `window` is None for a static one, `time_zone` the clock of its part.

    `times` are its columns of time, as texts name it by: `dt`. `rules` are those of its entity that its source has to
    count, by their names.
    """

    slice: Slice
    window: Window | None
    time_zone: str
    rules: Mapping[str, QualityRule] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: DependencyGraph, slice_: Slice) -> ProbedSlice:
        """The slice of a graph. Raises ParseError for one that there is not."""
        node, entity = graph.node(slice_.entity), graph.entity(slice_.entity)
        window = None if node.grid is None else graph.window(slice_)
        time_zone = node.calendar_of(slice_.sub).time_zone
        return cls(slice_, window, time_zone, _counted_rules(entity), _times(entity, slice_, window, time_zone))

    def text(self, template: str) -> str:
        """A text with placeholders, for this slice."""
        named = {**self.times, **dict(self.slice.sub)}
        return slice_text(template, self.slice.key, self.window, self.time_zone, named)

    def texts(self, templates: Mapping[str, str]) -> dict[str, str]:
        """The same of each value."""
        return {name: self.text(template) for name, template in templates.items()}


def _counted_rules(entity: Entity) -> dict[str, QualityRule]:
    named = zip(check_names(entity.quality), entity.quality, strict=True)
    return {name: rule for name, rule in named if not isinstance(rule, RowCount)}


def _times(entity: Entity, slice_: Slice, window: Window | None, time_zone: str) -> dict[str, str]:
    """What the columns of time hold in the slice's rows, as text."""
    if window is None or entity.period is None:
        return {}
    day = window.start.astimezone(zone_info(time_zone)).date()
    clock = clock_values(slice_.key)[1:] if entity.period.is_clock else ()
    return {column.name: str(column.value(day, *clock)) for column in entity.times}


class Materializations(Protocol):
    """What Dagster's event log says of assets, of this and other code locations."""

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        """(number of the event, rows) of the newest materialization; None where there is none."""


class CountedRecords(Protocol):
    """Counts of records by event time, in minutes since 1970-01-01T00:00Z."""

    def within(self, name: str, first: int, end: int) -> list[tuple[int, str, str, int]]:
        """(minute, side, part, records) of the minutes `[first, end)`."""

    def final_until(self, name: str) -> int:
        """The minute up to which the source's counts are final."""


@dataclass(frozen=True, slots=True)
class ProbeContext:
    """What probes need besides the declaration. `clock` is aware; no look may take longer than `timeout_seconds`."""

    secrets: ConnectionSecrets
    clock: Callable[[], datetime]
    materializations: Materializations
    counts: CountedRecords
    timeout_seconds: int = 20


class SliceProbe(Protocol):
    """How a source is looked at: what an entry point of the group `tidemark.probes` loads to, too.

    Raises ProbeError where the source does not answer; whatever else it raises counts the same.
    """

    def __call__(self, source: object, probed: ProbedSlice, context: ProbeContext, /) -> Sight: ...
