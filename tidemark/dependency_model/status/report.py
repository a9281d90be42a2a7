"""From what somebody reports to events of the table: reports come twice, late, out of order, and from runs by hand.

A report that tells nothing new is no event. One that has overtaken others implies them: a run that completed had
started, and one that nobody asked for was launched by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status.slice_status import Life, Quality
from tidemark.dependency_model.status.transition import Event, row_of

if TYPE_CHECKING:
    from tidemark.dependency_model.status.slice_status import SliceStatus

_BY_HAND: Final = row_of(Event.FORCED).lives
_UNDER_WAY: Final = frozenset({Life.LAUNCHED, Life.RUNNING})
_ON_ITS_WAY: Final = frozenset({Life.READY, *_UNDER_WAY})

_SAYS_NOTHING: Final[dict[Event, frozenset[Life]]] = {
    Event.REQUESTED: frozenset(Life) - {Life.WAITING},
    Event.RELEASED: frozenset(Life) - {Life.WAITING},
    Event.LAUNCHED: frozenset(Life) - {Life.READY, Life.WAITING, Life.ABSENT},
    Event.FAILED: frozenset(Life) - _UNDER_WAY,
    Event.LOST: frozenset(Life) - _UNDER_WAY,
    Event.RETRIED: frozenset({Life.WAITING, *_ON_ITS_WAY}),
    Event.DELETED: frozenset(Life) - {Life.COMPLETED},
    Event.TAINTED: frozenset(Life) - {Life.COMPLETED},
    Event.OBSERVED: frozenset({Life.COMPLETED}),
}
"""Reports that in these lives are late, or repeat what is known."""

_QUALITY: Final = {
    Event.QUALITY_PASSED: Quality.PASSED,
    Event.QUALITY_FAILED: Quality.FAILED,
    Event.QUALITY_IGNORED: Quality.IGNORED,
}


def events_of(report: Event, status: SliceStatus, *, of_known_run: bool = True) -> tuple[Event, ...]:
    """The events that a report amounts to for a slice as it is; the table may still refuse them.

    `of_known_run` says whether the report is of the run that the slice last had (reports that name no run are).
    """
    if status.life in _SAYS_NOTHING.get(report, ()) or _QUALITY.get(report) is status.quality:
        return ()
    if report in (Event.COMPLETED, Event.BACKFILLED):
        return _finished(status, of_known_run=of_known_run)
    if report in (Event.STARTED, Event.REACHED):
        started = _started(status, of_known_run=of_known_run)
        return started if report is Event.STARTED else (*started, Event.REACHED)
    return _other(report, status, of_known_run=of_known_run)


def _other(report: Event, status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    if report is Event.FAILED and not of_known_run:
        return ()
    if report is Event.OBSERVED and status.life is Life.READY:
        return (Event.WITHDRAWN, Event.OBSERVED)
    if report is Event.BACKFILL_REQUESTED and status.life is Life.WAITING:
        return (Event.REQUESTED,) if status.generation == 1 else ()
    return (report,)


def _started(status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    if status.life is Life.LAUNCHED:
        return (Event.STARTED,)
    if of_known_run:
        return ()
    if status.life in (Life.COMPLETED, Life.ABSENT):
        return (Event.BACKFILL_REQUESTED, Event.FORCED, Event.STARTED)
    return (Event.FORCED, Event.STARTED) if status.life in _BY_HAND else ()


def _finished(status: SliceStatus, *, of_known_run: bool) -> tuple[Event, ...]:
    """`backfilled` where it is not the first generation; data that is replaced begins one."""
    if status.life in (Life.COMPLETED, Life.ABSENT):
        if of_known_run:
            return ()
        return (Event.BACKFILL_REQUESTED, Event.FORCED, Event.STARTED, Event.BACKFILLED)
    finish = Event.COMPLETED if status.generation == 1 else Event.BACKFILLED
    if status.life is Life.RUNNING:
        return (finish,)
    if status.life is Life.LAUNCHED:
        return (Event.STARTED, finish)
    return (Event.FORCED, Event.STARTED, finish)
