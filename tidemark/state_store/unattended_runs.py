"""Runs without a living host: lost runs, and runs that no host has taken yet. Both are reported to Dagster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import exists, select

from tidemark.state_store.database_clock import SECOND, database_now
from tidemark.state_store.schema import WORKER_HOSTS, WORKER_RUNS
from tidemark.state_store.worker_runs import IS_WAITING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.state_store.database import Database

_RUNS: Final = WORKER_RUNS.c
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class LostRun:
    """A run that is no longer executed; without a host, no host had its code."""

    run_id: str
    host: str


@dataclass(frozen=True, slots=True)
class UnattendedRuns:
    """Runs without a living host that Dagster must know of. Raises StateStoreDownError.

    `turn` gives a run to one process, which reports it; another process gets it only some seconds later.
    """

    database: Database
    clock: Callable[[], float] | None = None

    def lost(self) -> list[LostRun]:
        """Lost runs that Dagster must know of."""
        query = select(_RUNS.run_id, _RUNS.host).where(_RUNS.ended_at == 0, _RUNS.lost_at > 0)
        with self.database.reading() as connection:
            return [LostRun(*row) for row in connection.execute(query.order_by(_RUNS.lost_at).limit(_AT_ONCE))]

    def waiting(self, seconds: float) -> list[str]:
        """Runs that wait for a host and were not reported for some time, oldest first."""
        with self.database.reading() as connection:
            before = database_now(connection, self.clock) - int(seconds * SECOND)
            query = select(_RUNS.run_id).where(IS_WAITING, _RUNS.told_at <= before)
            return [run_id for (run_id,) in connection.execute(query.order_by(_RUNS.asked_at).limit(_AT_ONCE))]

    def turn(self, run_id: str, seconds: float) -> bool:
        """Whether this process reports the run: no other process did within `seconds`."""
        with self.database.writing() as connection:
            now = database_now(connection, self.clock)
            is_due = (_RUNS.run_id == run_id) & (_RUNS.ended_at == 0) & (_RUNS.told_at <= now - int(seconds * SECOND))
            return connection.execute(WORKER_RUNS.update().where(is_due).values(told_at=now)).rowcount == 1

    def lose_without_host(self, seconds: float) -> int:
        """Mark runs as lost that waited too long, if no host has their code; returns their number."""
        with self.database.writing() as connection:
            now, hosts = database_now(connection, self.clock), WORKER_HOSTS.c
            is_there = exists().where((hosts.until > now) & (hosts.code == _RUNS.code))
            in_vain = IS_WAITING & (_RUNS.asked_at <= now - int(seconds * SECOND)) & ~is_there
            return connection.execute(WORKER_RUNS.update().where(in_vain).values(lost_at=now, told_at=0)).rowcount

    def close(self, run_id: str) -> None:
        """Note that Dagster knows of a lost run."""
        with self.database.writing() as connection:
            now, is_lost = database_now(connection, self.clock), (_RUNS.run_id == run_id) & (_RUNS.lost_at > 0)
            connection.execute(WORKER_RUNS.update().where(is_lost, _RUNS.ended_at == 0).values(ended_at=now))

    def forget(self, seconds: float) -> int:
        """Remove the rows of runs that ended long ago; returns their number."""
        with self.database.writing() as connection:
            before = database_now(connection, self.clock) - int(seconds * SECOND)
            ended = (_RUNS.ended_at > 0) & (_RUNS.ended_at <= before)
            return connection.execute(WORKER_RUNS.delete().where(ended)).rowcount
