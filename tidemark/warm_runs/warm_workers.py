"""Assigns runs to workers and replaces workers. It does not know processes; it uses protocols.

A run is taken once, however often it is requested. It leaves the host after its end is known in Dagster too. A worker
that ends without a report has crashed, and `Runs.close` closes its run. A worker has the Spark session of one place,
and executes the runs of this place alone: an idle worker of another place ends to make way.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Protocol

from tidemark.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tidemark.warm_runs.worker_options import WarmWorkerOptions

_STARTS: Final = 3
"""After this many failed starts in a row, no runs are taken until a worker is ready."""
_PAUSED_SECONDS: Final = 10.0
"""A longer time between two ticks, of about a second each, means a pause of the machine or the process."""
_TOLD_AT_ONCE: Final = 10
"""The most reports in a tick: requests for workers wait for their database writes."""


class Worker(Protocol):
    """A process that executes one run at a time and calls `is_ready`, `is_done` and `is_gone` of the host."""

    @property
    def pid(self) -> int: ...
    def run(self, run_id: str) -> None: ...
    def interrupt(self) -> None:
        """End the active run, by force after a while."""

    def end(self) -> None:
        """End the process, which has no run."""

    def kill(self) -> None:
        """End the process, which is still loading or hangs."""


class Runs(Protocol):
    """The host's reports about runs to Dagster."""

    def take(self, run_id: str) -> None:
        """Record durably that the host has the run."""

    def waits(self, run_id: str, before: int) -> None:
        """Report that the run still waits, with `before` runs ahead of it."""

    def note_end(self, run_id: str) -> None:
        """Record that the run has ended and has reported so itself."""

    def interrupts(self, run_id: str) -> None:
        """Note that a run is about to be stopped for an external reason."""

    def close(self, run_id: str, why: str) -> None:
        """Close a run that will never end by itself: as canceled if that was requested, else as failed."""


@dataclass(eq=False, slots=True)
class _Member:
    worker: Worker
    version: object
    place: str = ""
    is_ready: bool = False
    is_leaving: bool = False
    is_worn: bool = False
    run_id: str | None = None
    runs: int = 0
    heard_at: float = 0.0
    killed_for: str = ""


@dataclass(slots=True)
class Count:
    """Counts of events of warm workers."""

    taken: int = 0
    ended: int = 0
    crashed: int = 0
    replaced: int = 0


@dataclass(slots=True)
class WarmWorkers:
    """A set of workers. `start` makes a worker of a place; `version` gives the version of the code on disk.

    `place_of` gives the place of a run, empty for this process's own Spark settings. Thread-safe.
    """

    options: WarmWorkerOptions
    start: Callable[[WarmWorkers, str], Worker]
    runs: Runs
    version: Callable[[], object] = lambda: None
    clock: Callable[[], float] = time.monotonic
    place_of: Callable[[str], str] = lambda _: ""
    count: Count = field(default_factory=Count)
    _members: list[_Member] = field(default_factory=list)
    _waiting: deque[str] = field(default_factory=deque)
    _told_at: dict[str, float] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    _ticked_at: float = 0.0
    _failed_starts: int = 0
    _is_closed: bool = False
    _version: object = None
    _lock: RLock = field(default_factory=RLock)

    def run(self, run_id: str) -> bool:
        """Take a run; False if it has to go elsewhere."""
        try:
            place = self.place_of(run_id)
        except TransientError:
            return False
        with self._lock:
            if self.where(run_id) != "unknown":
                return True
            if not self.takes_runs:
                return False
            self.runs.take(run_id)
            self._places[run_id] = place
            self.count.taken += 1
            self._waiting.append(run_id)
            self._told_at[run_id] = self.clock()
            self._work()
            return True

    def stop_run(self, run_id: str) -> bool:
        """Stop a run; False if it is not here."""
        with self._lock:
            if run_id in self._waiting:
                self._waiting.remove(run_id)
                del self._told_at[run_id], self._places[run_id]
                self.runs.close(run_id, "The run was stopped before a worker had begun it.")
                return True
            member = next((member for member in self._members if member.run_id == run_id), None)
            if member is None:
                return False
            # An interrupted run may leave unknown state in the process, so the worker ends after it.
            member.is_leaving = True
            member.worker.interrupt()
            return True

    def where(self, run_id: str) -> str:
        """`waiting`, `running` or `unknown`."""
        with self._lock:
            if run_id in self._waiting:
                return "waiting"
            return "running" if any(member.run_id == run_id for member in self._members) else "unknown"

    def is_ready(self, worker: Worker) -> None:
        """A worker has loaded everything."""
        with self._lock:
            member = self._of(worker)
            if member is None:
                return
            member.is_ready, member.heard_at, self._failed_starts = True, self.clock(), 0
            worn = next((member for member in self._members if member.is_worn and not member.is_leaving), None)
            if worn is not None:
                self._leave(worn)
            self._work()

    def is_alive(self, worker: Worker) -> None:
        """A worker's process is alive, whatever it does."""
        with self._lock:
            member = self._of(worker)
            if member is not None and member.is_ready:
                member.heard_at = self.clock()

    def is_done(self, worker: Worker, megabytes: float, *, ended: bool) -> None:
        """A worker's run is over; `ended` if Dagster knows it."""
        with self._lock:
            member = self._of(worker)
            if member is None or member.run_id is None:
                return
            self._end(member.run_id, "" if ended else "Its worker could not report its end.")
            member.run_id, member.runs = None, member.runs + 1
            member.is_worn |= member.runs >= self.options.runs_a_worker or megabytes > self.options.megabytes
            if member.is_leaving:
                member.worker.end()
            self._work()

    def is_broken(self, worker: Worker, *, gives_back: bool) -> None:
        """A worker's JVM has ended, so it takes no more runs; `gives_back` a run that it has not begun."""
        with self._lock:
            member = self._of(worker)
            if member is None:
                return
            member.heard_at = self.clock()
            if gives_back and member.run_id is not None:
                self._waiting.appendleft(member.run_id)
                self._told_at[member.run_id] = self.clock()
                member.run_id = None
                member.worker.end() if member.is_leaving else None
            self._leave(member)
            self._work()

    def is_gone(self, worker: Worker, how: str) -> None:
        """A worker's process has ended."""
        with self._lock:
            member = self._of(worker)
            if member is None:
                return
            self._members.remove(member)
            has_failed = not (member.is_ready or member.is_leaving)
            self._failed_starts += has_failed and not member.place
            if has_failed and member.place:
                self._close_first_of(member.place, how)
            if member.run_id is not None:
                self.count.crashed += not member.is_leaving
                self._end(member.run_id, f"The worker that ran this (process {worker.pid}) {member.killed_for or how}.")
            self._work()

    def tick(self) -> None:
        """Workers with changed code on disk take no more runs. Call it about every second.

        Hanging workers are killed. Waiting runs are reported to Dagster, which would otherwise take them for lost.
        """
        version = self.version()
        with self._lock:
            self._version = version
            for member in [member for member in self._members if member.version != version]:
                self._leave(member)
            self._kill_hanging()
            self._work()
            self._tell_waiting()

    def _kill_hanging(self) -> None:
        now, paused = self.clock(), self.clock() - self._ticked_at > _PAUSED_SECONDS
        self._ticked_at = now
        for member in self._members:
            # The machine or this process slept, so the workers' messages waited too.
            member.heard_at = now if paused else member.heard_at
            most = self.options.silent_seconds if member.is_ready else self.options.load_seconds
            if now - member.heard_at > most and not member.killed_for:
                what = "said nothing" if member.is_ready else "was not ready"
                member.killed_for = f"{what} for {most} s and was killed"
                member.worker.kill()

    def _tell_waiting(self) -> None:
        """Report waiting runs under the lock, so that no worker begins one meanwhile."""
        now = self.clock()
        late = [run_id for run_id in self._waiting if now - self._told_at[run_id] >= self.options.wait_told_seconds]
        for run_id in late[:_TOLD_AT_ONCE]:
            self._told_at[run_id] = now
            self.runs.waits(run_id, self._waiting.index(run_id))

    def close(self) -> None:
        """Take no more runs, and end the active ones."""
        with self._lock:
            self._is_closed = True
            while self._waiting:
                run_id = self._waiting.popleft()
                self.runs.interrupts(run_id)
                self._end(run_id, "The warm workers were stopped before this run had begun.")
            for member in list(self._members):
                self._leave(member)

    def give_up(self, run_ids: Collection[str], why: str) -> None:
        """Kill the workers of these runs, which were given up, and close the waiting ones."""
        with self._lock:
            for run_id in [run_id for run_id in self._waiting if run_id in run_ids]:
                self._waiting.remove(run_id)
                del self._told_at[run_id]
                self._end(run_id, f"Its host {why}.")
            for member in self._members:
                if member.run_id in run_ids and not member.killed_for:
                    member.killed_for = why
                    member.worker.kill()

    @property
    def taken(self) -> list[str]:
        """The runs here: active ones, then waiting ones."""
        with self._lock:
            return [*(member.run_id for member in self._members if member.run_id is not None), *self._waiting]

    @property
    def takes_runs(self) -> bool:
        """Whether one more run may at least wait here."""
        with self._lock:
            return not self._is_closed and self.is_healthy and len(self._waiting) < self.options.waiting

    @property
    def room(self) -> int:
        """The number of further runs that would begin at once."""
        with self._lock:
            return max(0, len(list(self._idle())) - len(self._waiting)) if self.takes_runs else 0

    @property
    def is_healthy(self) -> bool:
        """Whether workers start."""
        return self._failed_starts < _STARTS or any(member.is_ready for member in self._members)

    @property
    def is_empty(self) -> bool:
        """Whether no worker is left."""
        with self._lock:
            return not self._members

    def status(self) -> dict[str, Any]:
        """Figures for people and metrics."""
        with self._lock:
            return {
                "healthy": not self._failed_starts or any(member.is_ready for member in self._members),
                "workers": len(self._members),
                "ready": sum(member.is_ready for member in self._members),
                "running": sum(member.run_id is not None for member in self._members),
                "waiting": len(self._waiting),
                "pids": [member.worker.pid for member in self._members],
                "taken": self.count.taken,
                "ended": self.count.ended,
                "crashed": self.count.crashed,
                "replaced": self.count.replaced,
            }

    def _work(self) -> None:
        if self._is_closed:
            return
        for run_id in list(self._waiting):
            place = self._places[run_id]
            member = next((member for member in self._idle() if member.place == place), None)
            if member is None:
                self._make_way(place)
                continue
            self._waiting.remove(run_id)
            del self._told_at[run_id]
            member.run_id = run_id
            member.worker.run(run_id)
        self._grow()

    def _make_way(self, place: str) -> None:
        """End an idle worker of another place, unless there is room for one more or one of this place is starting."""
        is_coming = any(member.place == place and not member.is_ready for member in self._members)
        idle = next(self._idle(), None)
        if idle is not None and not is_coming and len(self._staying()) >= self.options.workers:
            self._leave(idle)

    def _grow(self) -> None:
        """Start one worker at a time, because a start costs more processor time than most runs.

        It has the place of the first run that waits.
        """
        if any(not member.is_ready for member in self._members) or self._failed_starts >= _STARTS:
            return
        if len(self._staying()) < self.options.workers:
            place = self._places[self._waiting[0]] if self._waiting else ""
            self._members.append(_Member(self.start(self, place), self._version, place, heard_at=self.clock()))

    def _staying(self) -> list[_Member]:
        return [member for member in self._members if not (member.is_leaving or member.is_worn)]

    def _close_first_of(self, place: str, how: str) -> None:
        """Close the first waiting run of a place whose worker did not start: the retry policy decides."""
        run_id = next((run_id for run_id in self._waiting if self._places[run_id] == place), None)
        if run_id is not None:
            self._waiting.remove(run_id)
            del self._told_at[run_id]
            self._end(run_id, f"The worker of place {place} {how} before it was ready.")

    def retry_start(self) -> None:
        """Let one more worker try to start after failures."""
        with self._lock:
            if self._failed_starts >= _STARTS:
                self._failed_starts = _STARTS - 1
            self._work()

    def _idle(self) -> Iterator[_Member]:
        return (
            member for member in self._members if member.is_ready and not member.is_leaving and member.run_id is None
        )

    def _leave(self, member: _Member) -> None:
        if member.is_leaving:
            return
        self.count.replaced += not self._is_closed
        member.is_leaving = True
        if not member.is_ready:
            member.worker.kill()
        elif member.run_id is None:
            member.worker.end()
        elif self._is_closed:
            self.runs.interrupts(member.run_id)
            member.worker.interrupt()

    def _end(self, run_id: str, why: str) -> None:
        self.count.ended += 1
        self._places.pop(run_id, None)
        if why:
            self.runs.close(run_id, why)
        else:
            self.runs.note_end(run_id)

    def _of(self, worker: Worker) -> _Member | None:
        return next((member for member in self._members if member.worker is worker), None)
