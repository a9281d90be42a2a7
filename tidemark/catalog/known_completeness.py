"""Completeness of slices, cached: slices without new reports are not counted again (C4).

A page of fifty days by five minutes adds up 144,000 counts, but most of its days are over and do not change.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.catalog.slice_completeness import counted_by, minutes_of, slice_completeness
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.catalog.slice_completeness import SliceCompleteness
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database

_MOST_SLICES: Final = 10_000
_MOST_REPORTS: Final = 20_000
"""After more new reports than this, everything is counted again."""


@dataclass
class _Known:
    """The state after report number `report`, with the source's counts final up to the minute `final`."""

    report: int = -1
    final: int = 0
    slices: dict[Slice, SliceCompleteness | None] = field(default_factory=dict)


class KnownCompleteness:
    """The completeness of slices of a graph, in one database; safe between threads."""

    def __init__(self, graph: DependencyGraph, database: Database) -> None:
        self._graph, self._database, self._counts = graph, database, RecordCounts(database)
        self._known: dict[str, _Known] = {}
        self._lock = Lock()

    def of(self, slices: Sequence[Slice]) -> dict[Slice, SliceCompleteness]:
        """The completeness of slices of one entity; empty if it is not counted. Raises StateStoreDownError."""
        declared = counted_by(self._graph.entity(slices[0].entity)) if slices else None
        if declared is None:
            return {}
        with self._lock:
            known = self._known.setdefault(slices[0].entity, _Known())
            self._take_reports(known, declared.of)
            missing = [slice_ for slice_ in slices if slice_ not in known.slices]
            if missing:
                counted = slice_completeness(self._graph, self._database, missing)
                if len(known.slices) + len(missing) > _MOST_SLICES:
                    known.slices.clear()
                known.slices.update((slice_, counted.get(slice_)) for slice_ in missing)
                return {**_there(known, slices), **counted}
            return _there(known, slices)

    def _take_reports(self, known: _Known, name: str) -> None:
        """Drops slices that new reports are about. The newest report's number is read before anything is counted."""
        newest = self._counts.newest_report()
        if newest == known.report:
            return
        told = self._counts.reported_after(known.report, _MOST_REPORTS) if known.report >= 0 else []
        if known.report < 0 or newest < known.report or len(told) == _MOST_REPORTS:
            known.slices.clear()
        else:
            self._forget(known, sorted({minute for _, about, minute in told if about == name}))
        final = self._counts.final_until(name)
        if final != known.final:
            known.slices = {
                slice_: counted for slice_, counted in known.slices.items() if counted and counted.is_complete
            }
        until, number = self._counts.forgotten(name)
        if number > known.report:
            known.slices = {
                slice_: counted for slice_, counted in known.slices.items() if self._is_after(slice_, until)
            }
        known.report, known.final = newest, final

    def _is_after(self, slice_: Slice, until: int) -> bool:
        """Whether none of the slice's counts were deleted from the store."""
        span = minutes_of(self._graph, slice_)
        return span is not None and span.first >= until

    def _forget(self, known: _Known, minutes: Sequence[int]) -> None:
        if not minutes:
            return
        for slice_ in list(known.slices):
            span = minutes_of(self._graph, slice_)
            if span is not None and bisect_left(minutes, span.first) < bisect_left(minutes, span.end):
                del known.slices[slice_]


def _there(known: _Known, slices: Sequence[Slice]) -> dict[Slice, SliceCompleteness]:
    held = ((slice_, known.slices.get(slice_)) for slice_ in slices)
    return {slice_: counted for slice_, counted in held if counted is not None}
