"""The demo's progress: a live bar on a terminal, plain lines elsewhere, nothing for programs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from tidemark.center.launchers.in_process_runs import StepProgress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from tidemark.dependency_model.slice import Slice


class Display(Protocol):
    """Messages of the demo during its work. Also a RunWatcher of the launcher."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def say(self, text: str) -> None: ...
    def waiting(self, lines: list[str]) -> None: ...
    def run_started(self, slices: Sequence[Slice]) -> None: ...
    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None: ...


class PlainDisplay:
    """A line for each event, for logs and pipes; `quiet` prints nothing."""

    def __init__(self, console: Console, total: int, *, quiet: bool = False) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._quiet = quiet
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def say(self, text: str) -> None:
        if not self._quiet:
            clock = time.monotonic() - self._started
            self._console.print(f"[{clock:6.1f} s] {text}", markup=False, highlight=False, soft_wrap=True)

    def waiting(self, lines: list[str]) -> None:
        if lines:
            self.say(f"waiting: {lines[0]}" + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""))

    def run_started(self, slices: Sequence[Slice]) -> None:
        self.say(f"run of {len(slices)} slices: {_title(slices)}")

    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None:
        if progress is StepProgress.COMPLETED:
            self._done += len(slices)
            self.say(f"{self._done}/{self._total} done: {_title(slices)}")
        elif progress is StepProgress.FAILED:
            self.say(f"FAILED: {_title(slices)}")


class LiveDisplay:
    """A progress bar over all slices, the running step, and the waiting slices."""

    def __init__(self, console: Console, total: int) -> None:
        self._progress = Progress(
            TextColumn("[bold]slices"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("slices", total=total)
        self._running = Text()
        self._waiting = Text()
        self._live = Live(Group(self._progress, self._running, self._waiting), console=console, refresh_per_second=8)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.plain = self._waiting.plain = ""
        self._live.stop()

    def say(self, text: str) -> None:
        self._live.console.print(text, markup=False, highlight=False)

    def waiting(self, lines: list[str]) -> None:
        self._waiting.plain = "\n".join(f"  waits    {line}" for line in lines)
        self._waiting.stylize("dim")

    def run_started(self, slices: Sequence[Slice]) -> None:
        self._running.plain = f"  runs     {_title(slices)}"

    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None:
        if progress is StepProgress.STARTED:
            self._running.plain = f"  runs     {_title(slices)}"
            self._running.stylize("cyan")
        elif progress is StepProgress.COMPLETED:
            self._progress.advance(self._task, len(slices))
        else:
            self._live.console.print(f"[red]failed[/red]   {_title(slices)}")


def _title(slices: Sequence[Slice]) -> str:
    """`dws_a, dws_b 2026-03-29` or `ods_a 2026-03-30T00..2026-03-30T05`."""
    entities = dict.fromkeys(slice_.entity for slice_ in slices)
    first, last = slices[0].key, slices[-1].key
    return f"{', '.join(entities)} {first if first == last else f'{first}..{last}'}"
