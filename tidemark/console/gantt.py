"""The key path of a promise as bars on a time line, eighty columns wide, readable without colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.console.output import print_line

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from tidemark.center.baseline import Baseline, PathStep

_WIDTH: Final = 48
_INDENT: Final = " " * 29
"""The width of ` predicted 00:00 - 00:48 `."""


def print_gantt(promise: Baseline, zone: tzinfo) -> None:
    """Print for each slice of the key path the causes of a delay, and two bars.

    `#` is the predicted run or arrival, after `.` for its wait for room. `-` is the latest time at which it can run and
    keep the promise, which is `|`.
    """
    scale = _Scale.of(promise)
    for step in promise.path:
        why = [sentence.removeprefix(f"{step.slice} ") for sentence in promise.causes if _is_about(sentence, step)]
        print_line(f"  {step.slice}  {'; '.join(why) or 'as usual'}  (history: {step.label.value})", _style(why))
        latest = step.repair_by, step.repair_by + (step.finish - step.start)
        is_late = step.finish > latest[1]
        print_line(
            _row("predicted", step.start, step.finish, scale.predicted(step), zone), "red" if is_late else "green"
        )
        print_line(_row("at latest", *latest, scale.bar("-", *latest), zone), "dim")
    print_line(f"{_INDENT}{scale.axis(promise.ready_by, zone)}")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps instants to columns."""

    begin: datetime
    end: datetime
    ready_by: datetime

    @classmethod
    def of(cls, promise: Baseline) -> _Scale:
        begin = min(step.start - step.room for step in promise.path)
        end = max(*(step.finish for step in promise.path), promise.ready_by)
        return cls(min(begin, promise.ready_by), end, promise.ready_by)

    def predicted(self, step: PathStep) -> str:
        """The bar of a slice, with its wait for room."""
        waited = self.bar(".", step.start - step.room, step.start) if step.room else ""
        run = self.bar("#", step.start, step.finish)
        return "".join(
            there if there != " " else before for there, before in zip(run, waited.ljust(len(run)), strict=True)
        )

    def bar(self, mark: str, first: datetime, last: datetime) -> str:
        """A bar with at least one mark if a part of it is on the line; the promise is marked on every bar."""
        cells = [" "] * (_WIDTH + 1)
        if last >= self.begin:
            start = self.place(first)
            for place in range(start, max(self.place(last), start + 1)):
                cells[place] = mark
        cells[self.place(self.ready_by)] = "|"
        return "".join(cells)

    def place(self, instant: datetime) -> int:
        """The position from 0 to the width; instants outside are moved to the ends."""
        whole = (self.end - self.begin).total_seconds()
        passed = (instant - self.begin).total_seconds()
        return round(_WIDTH * min(max(passed, 0.0), whole) / whole) if whole else 0

    def axis(self, ready_by: datetime, zone: tzinfo) -> str:
        """The time of the promise, below its mark."""
        text = f"promised {ready_by.astimezone(zone):%m-%d %H:%M}"
        place = self.place(ready_by)
        return f"{text:>{place}} ^" if place > len(text) else f"{'':{place}}^ {text}"


def _is_about(sentence: str, step: PathStep) -> bool:
    return sentence.startswith(f"{step.slice} ")


def _style(why: list[str]) -> str:
    return "yellow" if why else ""


def _row(name: str, first: datetime, last: datetime, bar: str, zone: tzinfo) -> str:
    return f"    {name} {first.astimezone(zone):%H:%M} - {last.astimezone(zone):%H:%M}  {bar}".rstrip()
