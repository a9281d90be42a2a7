"""The earlier reports of slices, by which `late_report` decides whether a report is late.

Other schedulers and messages may report earlier runs after later runs, and a run more than once. A slice keeps only
its last run. So the store is asked if a report belongs to another run or to a run that has ended, or is about data of
another system.
"""

from __future__ import annotations

from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tidemark.center.report_vocabulary import MadeBy, made_by
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.late_report import REPORTED_BY_RUNS, ReportBefore
from tidemark.errors import ParseError
from tidemark.state_store.transition import OF_DAGSTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.center.fact import Fact
    from tidemark.center.in_memory_state import CenterMemory
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

    Before = Mapping[Slice, Sequence[ReportBefore]]

NOTHING_BEFORE: Final[Before] = MappingProxyType({})
_JUDGED: Final = REPORTED_BY_RUNS | {Event.OBSERVED, Event.DELETED}
_NAMES_RUN: Final = frozenset({Event.LAUNCHED, Event.FORCED})
"""If a report implies several transitions, only the first one names the run."""


def is_judged(fact: Fact, graph: DependencyGraph) -> bool:
    """Whether a report with an earlier time than others is late.

    Requests of people never are. A report without a run, about a slice of this project, belongs to the slice's run.
    Raises ParseError if the fact does not name a slice.
    """
    if fact.event not in _JUDGED:
        return False
    if fact.data.run_id is not None and fact.event in REPORTED_BY_RUNS:
        return True
    return made_by(graph.node(fact.slice.entity), fact.slice) is MadeBy.OTHERS


def report_of(fact: Fact) -> ReportBefore:
    """The part of a fact that is compared with later facts."""
    return ReportBefore(fact.data.run_id, fact.event, fact.event_time, fact.event_id.startswith(OF_DAGSTER))


def reports_before(facts: Iterable[Fact], graph: DependencyGraph, memory: CenterMemory, read: StateReader) -> Before:
    """The earlier reports of each slice for which one of these facts may be late."""
    doubtful: set[Slice] = set()
    for fact in facts:
        slice_, run = fact.slice, fact.data.run_id
        has_slice = slice_ in memory.under_way and run is not None and memory.runs.get(slice_) == run
        with suppress(ParseError):  # the receiver of the fact refuses it
            if not has_slice and is_judged(fact, graph):
                doubtful.add(slice_)
    memory.index.statuses.fetch(doubtful)
    known = [slice_ for slice_ in doubtful if slice_ in memory.runs or _has_begun(memory, slice_)]
    if not known:
        return NOTHING_BEFORE
    rows = read.reports(known, _JUDGED | _NAMES_RUN)
    return {slice_: list(_of_their_runs(reports)) for slice_, reports in rows.items()}


def _has_begun(memory: CenterMemory, slice_: Slice) -> bool:
    status = memory.index.statuses.get(slice_)
    return status is not None and (status.run_state is not RunState.WAITING or status.generation > 1)


def _of_their_runs(reports: Iterable[ReportBefore]) -> Iterable[ReportBefore]:
    run: str | None = None
    for report in reports:
        run = report.run or run
        if report.event not in _NAMES_RUN:
            yield report._replace(run=run)
