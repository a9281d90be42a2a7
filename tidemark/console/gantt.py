"""The key path of a promise as bars on a line of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.console.output import print_line

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from tidemark.center.baseline import Baseline, PathStep

_WIDTH: Final = 48


def print_gantt(promise: Baseline, zone: ZoneInfo) -> None:
    """A line a slice, first to last: `#` while it runs or is awaited, `.` while it waits for room, `|` its promise."""
    begin = min(step.start for step in promise.path)
    end = max(*(step.finish for step in promise.path), promise.ready_by)
    names = [f"{step.slice}" for step in promise.path]
    widest = max(map(len, names))
    for name, step in zip(names, promise.path, strict=True):
        times = f"{_clock(step.start, zone)} - {_clock(step.finish, zone)}"
        bar = _bar(step, promise.ready_by, begin, end)
        print_line(
            f"  {name:{widest}}  {times}  {bar}  repair by {_clock(step.repair_by, zone)}  history {step.label.value}"
        )
    print_line(f"  {'':{widest}}  {'promised ' + _clock(promise.ready_by, zone):>17}")


def _bar(step: PathStep, ready_by: datetime, begin: datetime, end: datetime) -> str:
    cells = [" "] * (_WIDTH + 1)
    first, last = _place(step.start, begin, end), _place(step.finish, begin, end)
    for place in range(_place(max(step.start - step.room, begin), begin, end), first):
        cells[place] = "."
    for place in range(first, max(last, first + 1)):
        cells[place] = "#"
    cells[_place(ready_by, begin, end)] = "|"
    return "".join(cells)


def _place(instant: datetime, begin: datetime, end: datetime) -> int:
    whole = (end - begin).total_seconds()
    return round(_WIDTH * max(0.0, (instant - begin).total_seconds()) / whole) if whole else 0


def _clock(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%H:%M}"
