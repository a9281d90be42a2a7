"""The host's reports to Dagster: runs that cannot report their own end are closed, once Dagster's database answers."""

from __future__ import annotations

import traceback
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from dagster import DagsterInstance, DagsterRunStatus

from tidemark.dagster_internals.execution import starting_event
from tidemark.warm_runs.run_identity import OutsideEnd, mark_ended, outside_end

if TYPE_CHECKING:
    from tidemark.warm_runs.run_journal import Journal

_AGAIN_SECONDS: Final = 1.0


class DagsterRunCloser:
    """Closes runs in a thread. The journal keeps each run until Dagster has the report."""

    def __init__(self, instance: DagsterInstance, journal: Journal) -> None:
        self._instance, self._journal = instance, journal
        self._queue: SimpleQueue[tuple[str, str, OutsideEnd | None] | None] = SimpleQueue()
        self._is_ending = Event()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def take(self, run_id: str) -> None:
        self._journal.add(run_id)

    def waits(self, run_id: str, before: int) -> None:
        tell_waiting(self._instance, run_id, f"The run waits for a warm worker, with {before} before it.")

    def note_end(self, run_id: str) -> None:
        self._journal.remove(run_id)

    def close(self, run_id: str, why: str, end: OutsideEnd | None = None) -> None:
        self._queue.put((run_id, why, end))

    def interrupts(self, run_id: str) -> None:
        tell_interruption(self._instance, run_id)

    def finish(self, seconds: float) -> None:
        """Wait until everything is reported. Runs that are not reported by then stay in the journal."""
        self._queue.put(None)
        self._is_ending.set()
        self._thread.join(seconds)

    def _work(self) -> None:
        while (order := self._queue.get()) is not None:
            while not self._is_closed(*order):
                if not self._is_ending.wait(_AGAIN_SECONDS):
                    self._queue.put(order)  # the others must not wait for one that cannot be closed
                    break

    def _is_closed(self, run_id: str, why: str, end: OutsideEnd | None) -> bool:
        try:
            if not tell_end(self._instance, run_id, why, end):
                return False
            self._journal.remove(run_id)
        except Exception:  # noqa: BLE001 - a thread that ended here would close no run any more
            traceback.print_exc()
            return False
        return True


def tell_waiting(instance: DagsterInstance, run_id: str, words: str) -> None:
    """Report again that the run is starting. Dagster counts its `start_timeout_seconds` from the last report."""
    try:
        run = instance.get_run_by_id(run_id)
        if run is not None and run.status is DagsterRunStatus.STARTING:
            instance.report_dagster_event(starting_event(run.job_name, words), run_id)
    except Exception:  # noqa: BLE001 - an unavailable database raises many kinds of errors; the report is repeated
        traceback.print_exc()


def tell_interruption(instance: DagsterInstance, run_id: str) -> None:
    """Note, before a run is stopped for another reason than its own, that it did not fail by itself."""
    try:
        mark_ended(instance, run_id, OutsideEnd.INTERRUPTED)
    except Exception:  # noqa: BLE001 - without the note the run counts as failed
        traceback.print_exc()


def tell_end(instance: DagsterInstance, run_id: str, why: str, end: OutsideEnd | None = None) -> bool:
    """Report that a run will never end by itself. Returns False if Dagster's database does not answer.

    `end` is the event that ended it from outside.
    """
    try:
        run = instance.get_run_by_id(run_id)
        if run is not None and run.status is DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, why)
        elif run is not None and not run.is_finished:
            if end is not None and outside_end(run) is None:
                mark_ended(instance, run_id, end)
            instance.report_run_failed(run, why)
    except Exception:  # noqa: BLE001 - an unavailable database raises many kinds of errors; it is tried again
        traceback.print_exc()
        return False
    return True
