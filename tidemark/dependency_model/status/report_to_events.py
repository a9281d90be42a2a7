"""Turns reports into events of the table: reports may repeat, come out of order, or come from manual runs.

A report without news is not an event. A report that overtook others implies them: a completed run had started, and a
run without a request was launched by hand. `late_report` has removed late reports before.

A slice of another system is there once that system reports it, whatever was reported before. It is never launched or
retried here.
"""

from __future__ import annotations

from dataclasses import replace as with_values
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status.slice_status import FOREIGN, Quality, RunState
from tidemark.dependency_model.status.transition import Event, row_of

if TYPE_CHECKING:
    from tidemark.dependency_model.status.slice_status import SliceStatus

_BY_HAND: Final = row_of(Event.FORCED).run_states
_UNDER_WAY: Final = frozenset({RunState.LAUNCHED, RunState.RUNNING})
_ON_ITS_WAY: Final = frozenset({RunState.READY, *_UNDER_WAY})

_SAYS_NOTHING: Final[dict[Event, frozenset[RunState]]] = {
    Event.REQUESTED: frozenset(RunState) - {RunState.WAITING},
    Event.RELEASED: frozenset(RunState) - {RunState.WAITING},
    Event.LAUNCHED: frozenset(RunState) - {RunState.READY, RunState.WAITING, RunState.ABSENT},
    Event.FAILED: frozenset(RunState) - _UNDER_WAY,
    Event.REFUSED: frozenset(RunState) - _UNDER_WAY,
    Event.CANCELLED: frozenset(RunState) - _UNDER_WAY - {RunState.FAILED},
    Event.INTERRUPTED: frozenset(RunState) - _UNDER_WAY,
    Event.LOST: frozenset(RunState) - _UNDER_WAY,
    Event.RETRIED: frozenset({RunState.WAITING, *_ON_ITS_WAY}),
    Event.RESTORED: frozenset(RunState) - {RunState.WAITING, RunState.READY, RunState.FAILED},
    Event.DELETED: frozenset(RunState) - {RunState.COMPLETED},
    Event.OVERWRITTEN: frozenset(RunState) - {RunState.COMPLETED},
    Event.RECOVERED: frozenset(RunState) - {RunState.COMPLETED, RunState.ABSENT},
    Event.TAINTED: frozenset(RunState) - {RunState.COMPLETED},
    Event.OBSERVED: frozenset({RunState.COMPLETED}),
}
"""Reports that are late in these run states, or repeat known facts."""

_IN_VAIN: Final = frozenset({Event.FAILED, Event.CANCELLED, Event.INTERRUPTED, Event.LOST})
_WITHOUT_ROWS: Final = _IN_VAIN | {Event.STARTED}
_ONLY_OF_OURS: Final = frozenset({Event.REQUESTED, Event.RELEASED, Event.LAUNCHED, Event.RETRIED})
"""Steps towards a run of this project."""

_QUALITY: Final = {
    Event.QUALITY_PASSED: Quality.PASSED,
    Event.QUALITY_FAILED: Quality.FAILED,
    Event.QUALITY_IGNORED: Quality.IGNORED,
}


class Source(Enum):
    """The run of a report, relative to the slice's last run."""

    OF_ITS_RUN = "of its run"
    """The slice's last run, or a report without a run."""
    OF_ANOTHER = "of another run"
    """While the slice's run goes on, only the news that it brought rows counts."""
    OF_THE_NEXT = "of the next run"
    """The next run: a slice has one run at a time, and only reports say that the earlier one goes on. So that one is
    over."""


_OF_ITS_RUN: Final = Source.OF_ITS_RUN


def events_of(report: Event, status: SliceStatus, source: Source = _OF_ITS_RUN) -> tuple[Event, ...]:
    """The events that a report implies for a slice with this status. The table may still refuse them."""
    is_known = source is Source.OF_ITS_RUN
    if source is Source.OF_THE_NEXT and report in _WITHOUT_ROWS and status.run_state in _UNDER_WAY:
        ready = with_values(status, run_state=RunState.READY)
        return (Event.LOST, *events_of(report, ready, Source.OF_ANOTHER))
    if report in _IN_VAIN and not is_known:
        return _failed(report, status)
    if status.run_state in _SAYS_NOTHING.get(report, ()) or _QUALITY.get(report) is status.quality:
        return ()
    if report in (Event.COMPLETED, Event.BACKFILLED):
        return _finished(status, of_known_run=is_known)
    if report in (Event.STARTED, Event.REACHED):
        started = _started(status, of_known_run=is_known)
        return started if report is Event.STARTED else (*started, Event.REACHED)
    return _other(report, status, of_known_run=is_known)


def _other(report: Event, status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    if report is Event.REFUSED and not of_known_run:
        return ()
    if report is Event.OBSERVED and status.run_state is RunState.READY:
        return (Event.WITHDRAWN, Event.OBSERVED)
    if report is Event.BACKFILL_REQUESTED and status.run_state is RunState.WAITING:
        return (Event.REQUESTED,) if status.generation == 1 else ()
    if report is Event.OVERWRITTEN and FOREIGN in status.states:
        return ()
    if report is Event.RECOVERED and status.run_state is RunState.COMPLETED and FOREIGN not in status.states:
        return ()
    return (report,)


def events_of_others(
    report: Event, status: SliceStatus, source: Source = _OF_ITS_RUN, *, replaces: bool = False
) -> tuple[Event, ...]:
    """The events of a report for a slice of another system.

    Data that was gone, or that `replaces` earlier data, is a new generation. Other repeated arrivals change nothing. A
    run of another system that did not succeed counts as failed, because it is not launched again here. A report may
    lack a run.
    """
    if report in _ONLY_OF_OURS:
        return ()
    if report in _IN_VAIN:
        return _failed_elsewhere(status, source)
    if report is Event.STARTED and status.run_state in _BY_HAND:
        return (Event.FORCED, Event.STARTED)
    if report is Event.DELETED and status.run_state is RunState.WAITING and status.generation == 1:
        return (Event.OBSERVED, Event.DELETED)
    return _arrived(report, status, source, replaces=replaces)


def _arrived(report: Event, status: SliceStatus, source: Source, *, replaces: bool) -> tuple[Event, ...]:
    if report is Event.OBSERVED and status.run_state in (RunState.FAILED, *_UNDER_WAY):
        return _finished(status, of_known_run=True)
    is_arrival = report in (Event.OBSERVED, Event.COMPLETED, Event.BACKFILLED)
    if is_arrival and (status.run_state is RunState.ABSENT or (replaces and status.run_state is RunState.COMPLETED)):
        return (Event.BACKFILL_REQUESTED, Event.OBSERVED)
    return events_of(report, status, source)


def _failed_elsewhere(status: SliceStatus, source: Source) -> tuple[Event, ...]:
    """`failed`, also if no start of the run was reported."""
    if source is not Source.OF_ITS_RUN:
        return events_of(Event.FAILED, status, source)
    if status.run_state in _UNDER_WAY:
        return (Event.FAILED,)
    return (Event.FORCED, Event.STARTED, Event.FAILED) if status.run_state in _BY_HAND else ()


def _started(status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    if status.run_state is RunState.LAUNCHED:
        return (Event.STARTED,)
    if of_known_run:
        return ()
    if status.run_state in (RunState.COMPLETED, RunState.ABSENT):
        return (Event.BACKFILL_REQUESTED, Event.FORCED, Event.STARTED)
    return (Event.FORCED, Event.STARTED) if status.run_state in _BY_HAND else ()


def _failed(report: Event, status: SliceStatus) -> tuple[Event, ...]:
    """The failure of a run whose start may be reported later; no events while another run has the slice."""
    begun = _started(status, of_known_run=False)
    return () if status.run_state in _UNDER_WAY else (*begun, report)


def _finished(status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    """`backfilled` in a later generation than the first. Data that replaces a completed slice's begins a generation."""
    if status.run_state in (RunState.COMPLETED, RunState.ABSENT):
        if of_known_run:
            return ()
        return (Event.BACKFILL_REQUESTED, Event.FORCED, Event.STARTED, Event.BACKFILLED)
    finish = Event.COMPLETED if status.generation == 1 else Event.BACKFILLED
    if status.run_state is RunState.RUNNING:
        return (finish,)
    if status.run_state is RunState.LAUNCHED:
        return (Event.STARTED, finish)
    return (Event.FORCED, Event.STARTED, finish)
