"""An asset of any code location, by the materializations in Dagster's event log;

its partitions are mapped to slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.crawl.content import content_of
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.entity.slice_text import slice_text
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import DagsterProbe


def look(source: DagsterProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See DagsterProbe."""
    asset = tuple(source.asset.split("/"))
    partitions = _partitions(source, probed)
    events = {partition: context.materializations.newest(asset, partition) for partition in partitions}
    missing = [partition for partition, event in events.items() if event is None]
    if missing:
        why = f"{source.asset} lacks {len(missing)} of {len(partitions)} partitions: {missing[0] or 'all of it'}"
        return Sight(is_there=False, why=why)
    known = [event for event in events.values() if event is not None]
    counts = [rows for _, rows in known]
    rows = None if None in counts else sum(count for count in counts if count is not None)
    number = max(event for event, _ in known)
    why = f"{source.asset} was materialized, event {number}"
    return Sight(is_there=True, why=why, content=content_of(known), rows=rows, version=str(number))


def _partitions(source: DagsterProbe, probed: ProbedSlice) -> list[str | None]:
    """The asset's partitions that make the slice."""
    if source.partition is None:
        return [None]
    if source.each is None or probed.window is None:
        return [probed.text(source.partition)]
    grid = Calendar(probed.time_zone).grid(source.each)
    first, last = grid.at(seconds_of(probed.window.start)), grid.at(seconds_of(probed.window.end) - 1)
    sub = dict(probed.slice.sub)
    windows = {grid.key(number): grid.window(number) for number in range(first, last + 1)}
    texts = (slice_text(source.partition, key, window, probed.time_zone, sub) for key, window in windows.items())
    return list(dict.fromkeys(texts))
