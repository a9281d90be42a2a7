"""Whether a report of a slice comes late, by its time and by earlier reports of the slice.

Reports come in any order. The newest one decides, not the last one received: of two runs, the run that reported later
has the slice, and the end of a run comes after its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.status.transition import Event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

ENDS_OF_RUNS: Final = frozenset(
    {Event.COMPLETED, Event.BACKFILLED, Event.FAILED, Event.CANCELLED, Event.INTERRUPTED, Event.LOST}
)
REPORTED_BY_RUNS: Final = ENDS_OF_RUNS | {Event.STARTED, Event.REACHED}
_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED})
_ARRIVALS: Final = _FINISHED | {Event.OBSERVED}
"""Two of these events without a run, at the same instant, may mean different rows."""


class ReportBefore(NamedTuple):
    """One report. `time` is when it happened (aware); `run` is None without a run.

    `is_of_dagster`: the report was in Dagster's event log.
    """

    run: str | None
    event: Event
    time: datetime
    is_of_dagster: bool = False


def is_late(report: ReportBefore, before: Sequence[ReportBefore], holder: str | None) -> bool:
    """Whether a report is outdated, or repeats another one.

    `holder` is the active run, or None. Its reports are never late, because the clocks of two machines may differ.
    Of two runs that report for the same instant, the later report counts.
    """
    if report.run is not None and report.run == holder:
        return False
    return any(_repeats(report, other) or _is_newer(other, report) for other in before)


def _repeats(report: ReportBefore, other: ReportBefore) -> bool:
    is_same_run = report.run == other.run and (report.run is not None or report.event not in _ARRIVALS)
    is_same_event = report.event is other.event or {report.event, other.event} <= _FINISHED
    return is_same_run and is_same_event and report.time == other.time


def _is_newer(other: ReportBefore, report: ReportBefore) -> bool:
    if other.time == report.time and other.run == report.run is not None:
        return report.event is Event.STARTED and other.event in ENDS_OF_RUNS
    return other.time > report.time
