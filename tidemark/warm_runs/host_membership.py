"""A host among several that share a state store: it reports that it is alive, and takes runs while it has room.

A host pulls runs, so no connection to it is needed. A run that comes by its socket is claimed in the store too, so that
no other host takes it, and others know about it if this host is lost. A host that was given up kills its runs, because
their slices now belong to others, and joins again.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Final

from tidemark.errors import TransientError
from tidemark.state_store.errors import HostNameTakenError
from tidemark.state_store.worker_runs import RunClaim

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.state_store.worker_hosts import HostPool, WorkerHosts
    from tidemark.state_store.worker_runs import WorkerRuns
    from tidemark.warm_runs.warm_workers import WarmWorkers

POLL_SECONDS: Final = 0.4
"""How often the store is checked for waiting runs: one read of an index of open runs."""
_RENEW_SECONDS: Final = 4.0
_GIVEN_UP: Final = "was killed, because its host sent no heartbeat for too long and its runs were given up"


@dataclass(frozen=True, slots=True)
class SharedStore:
    """The two tables that hosts share."""

    hosts: WorkerHosts
    runs: WorkerRuns


@dataclass(slots=True)
class HostMembership:
    """The membership of one host. One thread calls `step`; any thread may call `take_asked` and `note_end`."""

    name: str
    identity: str
    store: SharedStore
    warm_workers: WarmWorkers
    pool: Callable[[], HostPool]
    look_after_others: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[str], object] = lambda what: sys.stderr.write(f"{what}\n")
    fencing_token: int | None = None
    _ended: SimpleQueue[str] = field(default_factory=SimpleQueue)
    _ending: set[str] = field(default_factory=set)
    _stopping: set[str] = field(default_factory=set)
    _awake: Event = field(default_factory=Event)
    _renewed_at: float = float("-inf")
    _told: object = None
    _heard_at: float = 0.0

    def __post_init__(self) -> None:
        self._heard_at = self.clock()

    def run(self, stopped: Event) -> None:
        """Take part until `stopped`. If the store does not answer, it is tried again."""
        while not stopped.is_set():
            try:
                self.step()
            except TransientError as error:
                self._tell(str(error))
            except Exception as error:  # noqa: BLE001 - the thread has to survive every error of a step
                self._tell(f"unexpected {type(error).__name__}: {error}")
            self._awake.wait(POLL_SECONDS)
            self._awake.clear()

    def step(self) -> None:
        """Exchange news with the store once. Raises StateStoreDownError, HostNameTakenError."""
        self._note_ends()
        if self.clock() - self._renewed_at >= _RENEW_SECONDS:
            self._renew()
        if self.fencing_token is not None:
            self._take_and_stop(self.fencing_token)

    @property
    def seconds_since_renewal(self) -> float:
        """Seconds since the store last recorded this host as alive, or since the start."""
        return self.clock() - self._heard_at

    def take_asked(self, run_id: str) -> bool:
        """Take a run from the socket; False if this host cannot. True also if another host has it."""
        token = self.fencing_token
        if token is None or not self.warm_workers.takes_runs:
            return False
        try:
            claim = self.store.runs.claim(run_id, self.pool().code, self.name, token)
        except TransientError:
            return False
        if claim is RunClaim.OURS and not self.warm_workers.run(run_id):
            self.store.runs.give_back(run_id, self.name, token)
        return claim is not RunClaim.REFUSED

    def note_end(self, run_id: str) -> None:
        """Note that a run has ended and Dagster knows it, so its worker is free."""
        self._ended.put(run_id)
        self._awake.set()

    def leave(self) -> None:
        """Leave the store, if it answers, so that this host gets no more runs."""
        try:
            self._note_ends()
            if self.fencing_token is not None:
                self.store.hosts.leave(self.name, self.fencing_token)
        except TransientError as error:  # its lease expires
            self._tell(str(error))
        self.fencing_token = None

    def _renew(self) -> None:
        pool, running = self.pool(), self.warm_workers.taken
        token = self.fencing_token
        if token is not None and not self.store.hosts.renew(self.name, token, pool, len(running)):
            self.fencing_token = None
            self.warm_workers.give_up(running, _GIVEN_UP)
            self._tell(f"{self.name} was given up: the {len(running)} runs that it had are killed")
        if self.fencing_token is None:
            self._join(pool)
        self._renewed_at = self._heard_at = self.clock()
        self._take_up()
        self.look_after_others()

    def _join(self, pool: HostPool) -> None:
        try:
            self.fencing_token = self.store.hosts.join(self.name, self.identity, pool)
        except HostNameTakenError:
            self._renewed_at = self.clock()  # it is tried again, but not at every step
            raise
        self._tell(f"{self.name} takes runs: {pool.slots} at a time, of code {pool.code}")

    def _take_up(self) -> None:
        """Begin runs that are this host's in the store, although the store's answer was lost."""
        token = self.fencing_token
        if token is None:
            return
        here = {*self.warm_workers.taken, *self._ending}
        for run_id in self.store.runs.of_host(self.name, token):
            if run_id not in here:
                self._begin(run_id, token)

    def _take_and_stop(self, token: int) -> None:
        code = self.pool().code
        wanted = self.store.runs.wanted(code, self.name, token)
        for run_id in {*wanted.to_stop} - self._stopping:
            self.warm_workers.stop_run(run_id)
        self._stopping = {*wanted.to_stop}
        room = self.warm_workers.room
        if wanted.takeable and room:
            for run_id in self.store.runs.take(code, self.name, token, room):
                self._begin(run_id, token)
        if wanted.other_codes:
            others = ", ".join(sorted(wanted.other_codes))
            self._tell(f"{self.name} leaves runs of code {others} to others: its own is {code}")

    def _begin(self, run_id: str, token: int) -> None:
        if not self.warm_workers.run(run_id):
            self.store.runs.give_back(run_id, self.name, token)

    def _note_ends(self) -> None:
        while True:
            try:
                self._ending.add(self._ended.get_nowait())
            except Empty:
                break
        if self._ending and self.fencing_token is not None:
            self.store.runs.end(sorted(self._ending), self.name, self.fencing_token)
        self._ending.clear()

    def _tell(self, what: str) -> None:
        """Log a line unless it is the same as the last one."""
        if what != self._told:
            self.tell(what)
            self._told = what
