"""The answers of a host of warm workers, alone or as one of several that share a state store."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import HostPool, WorkerHosts
from tidemark.state_store.worker_runs import WorkerRuns
from tidemark.warm_runs.host_membership import HostMembership, SharedStore
from tidemark.warm_runs.lost_runs import LostRuns
from tidemark.warm_runs.shared_runs import code_identity_of, identity_in

if TYPE_CHECKING:
    from pathlib import Path

    from dagster import DagsterInstance

    from tidemark.system.settings import Settings
    from tidemark.warm_runs.warm_workers import WarmWorkers

_END_SECONDS: Final = 5.0


@dataclass(slots=True)
class HostService:
    """The host's service. Call `serve` before anything else."""

    _warm_workers: WarmWorkers | None = None
    _membership: HostMembership | None = None
    _thread: Thread | None = None
    _stopped: Event | None = None

    def serve(self, warm_workers: WarmWorkers, settings: Settings, instance: DagsterInstance, folder: Path) -> None:
        """Start to take runs, also from the store if it is a server."""
        self._warm_workers = warm_workers
        if not settings.state:
            return
        database, code = Database.of(settings), code_identity_of(warm_workers.options)
        others = LostRuns(database, warm_workers.options.wait_told_seconds)
        self._membership = HostMembership(
            settings.host,
            identity_in(folder),
            SharedStore(WorkerHosts(database), WorkerRuns(database)),
            warm_workers,
            lambda: HostPool(warm_workers.options.workers * warm_workers.is_healthy, settings.pools, code()),
            lambda: others.poll(instance),
        )
        self._stopped = Event()
        self._thread = Thread(target=self._membership.run, args=[self._stopped], name="membership", daemon=True)
        self._thread.start()

    def note_end(self, run_id: str) -> None:
        """Note that a run has ended and Dagster knows it."""
        if self._membership is not None:
            self._membership.note_end(run_id)

    def leave(self) -> None:
        """Take no more runs from the store."""
        if self._membership is None or self._stopped is None or self._thread is None:
            return
        self._stopped.set()
        self._thread.join(_END_SECONDS)
        self._membership.leave()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request (tidemark.warm_runs.host_socket)."""
        assert self._warm_workers is not None  # noqa: S101 - nothing is listened to before
        match asked:
            case {"do": "run", "run": str(run_id)}:
                return {"taken": self._take(self._warm_workers, run_id, at_once=asked.get("when") == "room")}
            case {"do": "stop", "run": str(run_id)}:
                return {"found": self._warm_workers.stop_run(run_id)}
            case {"do": "where", "run": str(run_id)}:
                return {"at": self._warm_workers.where(run_id)}
            case _:
                return {**self._warm_workers.status(), **self._of_store()}

    def _of_store(self) -> dict[str, float]:
        """Seconds since the shared store last recorded this host as alive; empty without a shared store."""
        member = self._membership
        return {} if member is None else {"seconds_since_store": round(member.seconds_since_renewal, 1)}

    def _take(self, warm_workers: WarmWorkers, run_id: str, *, at_once: bool) -> bool:
        if warm_workers.where(run_id) != "unknown":
            return True
        if at_once and not warm_workers.room:
            return False
        return warm_workers.run(run_id) if self._membership is None else self._membership.take_asked(run_id)
