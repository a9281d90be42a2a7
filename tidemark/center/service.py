"""The center as a service that dispatches: what happens is taken in within a moment, and what it releases is run.

Of several services on one state store one is active, by the lease; the others are ready to take its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import psycopg2
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import DBAPIError

from tidemark.center.direct_runs import DirectRuns
from tidemark.center.dispatch import Dispatch, Policy
from tidemark.center.host import TOGETHER, Intake
from tidemark.center.leadership import Leadership, holder_name
from tidemark.center.pools import Pools
from tidemark.center.waking import Waker, waker_of
from tidemark.dependency_model.errors import TransientError
from tidemark.state_store.lease import CENTER, Fence, Lease
from tidemark.system.garbage_collection import freeze_live_objects
from tidemark.warm_runs.address import ask
from tidemark.warm_runs.errors import PoolDownError
from tidemark.warm_runs.options import pool_folder

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.center.code_location import CodeLocation
    from tidemark.warehouse.warehouse import Warehouse

Tell = Callable[..., None]
"""Takes an event's name and its values: a line of the log."""

LEASE_SECONDS: Final = 6.0
_NOWHERE: Final = Fence(CENTER, 0, "")
ACROSS: Final = 16
"""So many entities at the same times share a run while there is no room: a step costs less than a run of its own."""
_STANDBY_SECONDS: Final = 0.3
_THOROUGH_SECONDS: Final = 1.0
_WIPED_SECONDS: Final = 300.0
_AGAIN_SECONDS: Final = 0.5
# The driver's own too: what fails while a connection is given back is not wrapped.
_GOES_AGAIN = (TransientError, DBAPIError, DagsterPostgresException, psycopg2.Error)


@dataclass(slots=True)
class Figures:
    """What the service has done since it started."""

    turns: int = 0
    facts: int = 0
    launched: int = 0
    errors: int = 0
    last_turn: float = 0.0
    turn_seconds: float = 0.0


class Service:
    """One process's center; `serve` until it is told to stop."""

    def __init__(
        self,
        warehouse: Warehouse,
        instance: dg.DagsterInstance,
        location: CodeLocation,
        tell: Tell,
        policy: Policy | None = None,
    ) -> None:
        self._intake = Intake(warehouse, "center")
        self.store, self.center = self._intake.store, self._intake.center
        self.store.write.fence = _NOWHERE
        lease = Lease(self.store.database, holder_name("center"), LEASE_SECONDS, insists=True)
        self.leadership = Leadership(lease)
        self.figures = Figures()
        self._instance, self._tell = instance, tell
        self._pools = Pools.parse(warehouse.settings.pools)
        self._policy = policy or Policy(together=TOGETHER, across=ACROSS)
        self._runs = DirectRuns(warehouse.graph, instance, location)
        self._waker: Waker = waker_of(instance)
        self._leads, self._thorough_at = 0, 0.0
        self._dispatch = self._new_dispatch()

    def serve(
        self,
        stopped: Callable[[], bool],
        watch: Callable[[], None] = lambda: None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        """Take turns until `stopped`. What may be tried again is told and tried again.

        `started` is called once it is known who is active, `watch` in every turn.
        """
        with self.leadership:
            self._is_active()
            freeze_live_objects()
            started()
            while not stopped():
                watch()
                if self._is_active():
                    self._turn()
                else:
                    time.sleep(_STANDBY_SECONDS)
        self._tell("stopped")
        self._waker.close()
        self.store.close()

    def status(self) -> dict[str, Any]:
        """Figures for people and for metrics. Reads memory only, and asks the pool."""
        leads = self.leadership.generation is not None
        try:
            pool = ask(pool_folder(self._instance), {"do": "status"}, 1.0)
        except PoolDownError:
            pool = {}
        idle = time.monotonic() - self.figures.last_turn if self.figures.last_turn else 0.0
        return {
            "active": leads,
            "generation": self.leadership.generation or 0,
            "holder": self.leadership.holder,
            "turns": self.figures.turns,
            "facts": self.figures.facts,
            "launched": self.figures.launched,
            "errors": self.figures.errors,
            "turn_seconds": round(self.figures.turn_seconds, 6),
            "seconds_since_turn": round(idle, 3) if leads else 0.0,
            "pool": {name: value for name, value in pool.items() if isinstance(value, int)},
        }

    def _is_active(self) -> bool:
        """Whether the lease is held; a new generation begins with what is stored."""
        generation = self.leadership.generation or 0
        if generation != self._leads:
            self._leads = generation
            self.store.write.fence = Fence(CENTER, generation, self.leadership.holder)
            self._intake.begin_anew()
            self._thorough_at, self._dispatch = 0.0, self._new_dispatch()
            if generation:
                self._tell("active", generation=generation)
            else:
                self._tell("standby", holder=self.leadership.holder)
        return generation > 0

    def _turn(self) -> None:
        begun = time.monotonic()
        try:
            self._work()
        except _GOES_AGAIN as error:
            self.figures.errors += 1
            self._tell("again", error=" ".join(str(error).split())[:500])
            self._intake.read_again()
            time.sleep(_AGAIN_SECONDS)
        else:
            self.figures.turns += 1
            self.figures.last_turn = time.monotonic()
            self.figures.turn_seconds += self.figures.last_turn - begun
            self._waker.wait()

    def _work(self) -> None:
        is_thorough = time.monotonic() >= self._thorough_at
        if is_thorough:
            self._thorough_at = time.monotonic() + _THOROUGH_SECONDS
        new = self._intake.turn(self._instance, thoroughly=is_thorough)
        launched = self._dispatch.step()
        self.figures.facts += new
        self.figures.launched += launched
        if launched:
            self._tell("launched", runs=launched, under_way=len(self.center.under_way()))
        self._intake.upkeep(_WIPED_SECONDS)

    def _new_dispatch(self) -> Dispatch:
        return Dispatch(
            self.center,
            self.store.read,
            self._runs,
            self._pools,
            policy=self._policy,
            clock=lambda: datetime.now(UTC),
        )
