"""Hosts of warm workers on one state store, without processes: they join, die, freeze, wake late, and runs are asked.

A slice is computed by a run; one that is closed without a result is launched again, in another run, as the center does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.state_store.errors import RunLostError
from tidemark.state_store.unattended_runs import UnattendedRuns
from tidemark.state_store.worker_hosts import HOST_SECONDS, HostPool, WorkerHosts
from tidemark.state_store.worker_runs import WorkerRuns
from tidemark.warm_runs.host_membership import HostMembership, SharedStore
from tidemark.warm_runs.warm_workers import WarmWorkers
from tidemark.warm_runs.worker_options import WarmWorkerOptions

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

SLOTS = 2
CODE, OTHER_CODE = "code 1", "code 2"


@dataclass(eq=False)
class ModelWorker:
    """A worker that executes a run until the test ends the run."""

    host: ModelHost
    pid: int = 0
    run_id: str | None = None
    is_killed: bool = False
    is_interrupted: bool = False

    def run(self, run_id: str) -> None:
        self.run_id = run_id
        self.host.world.begun[run_id, self.host.name] += 1
        self.host.world.require_fitting(run_id, self.host)

    def interrupt(self) -> None:
        self.is_interrupted = True

    def end(self) -> None:
        self.is_killed = True

    def kill(self) -> None:
        self.is_killed = True


@dataclass(eq=False)
class ModelHost:
    """One life of a host; what it is asked while it is frozen it does not hear."""

    world: HostsWorld
    name: str
    code: str = CODE
    identity: str = ""
    is_frozen: bool = False
    workers: list[ModelWorker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.warm_workers = WarmWorkers(WarmWorkerOptions(workers=SLOTS), self._start, self, clock=lambda: 0.0)
        store = SharedStore(self.world.hosts, self.world.runs)
        self.membership = HostMembership(
            *(self.name, self.identity or self.name, store, self.warm_workers),
            lambda: HostPool(SLOTS, f"default={SLOTS}", self.code),
            clock=self.world.clock,
            tell=self.world.told.append,
        )
        self._keep_up()

    def step(self) -> None:
        self.membership.step()
        self._keep_up()

    def finish(self, run_id: str) -> None:
        """The run's worker publishes what it computed, if it may."""
        worker = next(worker for worker in self.workers if worker.run_id == run_id)
        self.world.publish(run_id)
        worker.run_id = None
        self.warm_workers.is_done(worker, 1.0, ended=True)

    @property
    def running(self) -> list[str]:
        return [worker.run_id for worker in self.workers if worker.run_id and not worker.is_killed]

    def _start(self, _warm_workers: WarmWorkers, _place: str) -> ModelWorker:
        self.workers.append(ModelWorker(self))
        return self.workers[-1]

    def _keep_up(self) -> None:
        """Killed workers are gone, stopped runs end, others take their place and are ready."""
        for worker in [worker for worker in self.workers if worker.is_killed or worker.is_interrupted]:
            self.workers.remove(worker)
            self.warm_workers.is_gone(worker, "was killed")
        self.warm_workers.tick()
        for _ in range(SLOTS):
            for worker in self.workers:
                if not worker.run_id:
                    self.warm_workers.is_ready(worker)

    def take(self, run_id: str) -> None:
        """Nothing is kept here."""

    def waits(self, run_id: str, before: int) -> None:
        """Nobody is told."""

    def note_end(self, run_id: str) -> None:
        self.membership.note_end(run_id)

    def interrupts(self, run_id: str) -> None:
        """Nobody is told."""

    def close(self, run_id: str, why: str) -> None:  # noqa: ARG002 - the protocol's
        self.world.closed(run_id)
        self.membership.note_end(run_id)


@dataclass
class HostsWorld:
    """The hosts, the center that launches slices again, and what has come of it."""

    database: Database
    now: float = 1_000_000.0
    living: dict[str, ModelHost] = field(default_factory=dict)
    begun: Counter[tuple[str, str]] = field(default_factory=Counter)
    published: Counter[str] = field(default_factory=Counter)
    slices: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    to_launch: list[str] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        self.hosts = WorkerHosts(self.database, HOST_SECONDS, self.clock)
        self.runs = WorkerRuns(self.database, self.clock)
        self.unattended = UnattendedRuns(self.database, self.clock)

    def clock(self) -> float:
        return self.now

    def join(self, name: str, code: str = CODE, identity: str = "") -> ModelHost:
        self.living[name] = ModelHost(self, name, code, identity)
        self.living[name].step()
        return self.living[name]

    def kill(self, name: str) -> None:
        del self.living[name]

    def awake(self) -> list[ModelHost]:
        return [host for host in self.living.values() if not host.is_frozen]

    def ask(self, slice_: str) -> None:
        """A new slice is to be computed."""
        self.to_launch.append(slice_)
        self.launch("")

    def launch(self, at: str) -> None:
        """Launch what is to be, from a host's launcher (an idle worker there first) or from a machine without any."""
        for slice_ in list(self.to_launch):
            number = sum(known == slice_ for known in self.slices.values())
            run_id = f"{slice_} try {number}"
            host = self.living.get(at)
            self.codes[run_id], self.slices[run_id] = host.code if host else CODE, slice_
            if self._is_taken(run_id, host if host in self.awake() else None):
                self.to_launch.remove(slice_)
            else:
                del self.codes[run_id], self.slices[run_id]

    def _is_taken(self, run_id: str, host: ModelHost | None) -> bool:
        if host is not None and host.warm_workers.room and host.membership.take_asked(run_id):
            return True
        if self.runs.offer(run_id, self.codes[run_id], host.name if host else "elsewhere"):
            return True
        return host is not None and host.membership.take_asked(run_id)

    def look(self) -> None:
        """Somebody looks after runs that no living host answers for."""
        self.hosts.give_up()
        for run in self.unattended.lost():
            if self.unattended.turn(run.run_id, 10):
                self.closed(run.run_id)
                self.unattended.close(run.run_id)

    def pass_without(self, name: str) -> None:
        """So much time that a host is given up which says nothing meanwhile, while its workers go on."""
        self.now += HOST_SECONDS
        for host in self.awake():
            if host.name != name:
                host.step()
        self.look()
        self.launch("")

    def closed(self, run_id: str) -> None:
        """Dagster hears that the run ended without a result of its own: it hears it once."""
        slice_ = self.slices[run_id]
        if self.published[slice_] or slice_ in self.to_launch or run_id in self.stopped:
            return
        if run_id == self.newest_run(slice_):
            self.to_launch.append(slice_)

    def newest_run(self, slice_: str) -> str:
        return [run_id for run_id, known in self.slices.items() if known == slice_][-1]

    def publish(self, run_id: str) -> None:
        try:
            self.runs.require_kept(run_id)
        except RunLostError:
            self.refused += 1
            return
        self.published[self.slices[run_id]] += 1

    def require_fitting(self, run_id: str, host: ModelHost) -> None:
        """A host executes what asks for its code, and nothing that was begun before, anywhere."""
        assert self.codes[run_id] == host.code, f"{run_id} on {host.name}"
        assert sum(count for (begun, _), count in self.begun.items() if begun == run_id) == 1, run_id

    def settle(self) -> None:
        """Everybody is there and goes on until nothing is to be done: all of it, each once."""
        for host in self.living.values():
            host.is_frozen = False
        for name in ("a", "b"):
            if name not in self.living:
                self.join(name)
            self.living[name].code = CODE
        for _ in range(400):
            self.now += 5
            self.look()
            for host in list(self.living.values()):
                host.step()
                for run_id in host.running:
                    host.finish(run_id)
            self.launch("")
            is_done = not self.to_launch and set(self.slices.values()) <= set(self.published)
            if is_done and not any(map(self.runs.is_open, self.slices)):
                break
