"""Assigns runs to hosts of warm workers: one host takes each run, finally, in one transaction.

A run waits until a host with a free slot takes it. Runs of a host that was given up are lost, and no host takes them
again: the center launches their slices in new runs. A finished run keeps its row for a while, so that it is not taken
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import exists, select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.errors import RunLostError
from tidemark.state_store.schema import WORKER_HOSTS, WORKER_RUNS
from tidemark.state_store.worker_hosts import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from tidemark.state_store.database import Database

_RUNS: Final = WORKER_RUNS.c
_IS_OPEN: Final = (_RUNS.ended_at == 0) & (_RUNS.lost_at == 0)
IS_WAITING: Final = _IS_OPEN & (_RUNS.host == "")
_AT_ONCE: Final = 200


class RunClaim(Enum):
    """The result of a host's claim on a run."""

    OURS = "ours"
    ELSEWHERE = "elsewhere"
    REFUSED = "refused"
    """The host was given up, or never joined."""


class Stop(Enum):
    """The result of stopping a run."""

    UNKNOWN = "unknown"
    ENDED = "ended"
    """No host had taken it, and none will."""
    ASKED = "asked"
    """Its host will stop it."""


class Wanted(NamedTuple):
    """Work for a host: how many runs it may take, its runs to stop, and the codes of waiting runs of others."""

    takeable: int
    to_stop: list[str]
    other_codes: set[str]


@dataclass(frozen=True, slots=True)
class WorkerRuns:
    """All methods raise StateStoreDownError.

    `clock` (epoch seconds) is for tests; otherwise the database's time is used.
    """

    database: Database
    clock: Callable[[], float] | None = None

    def offer(self, run_id: str, code: str, host: str) -> bool:
        """Offer the run to other hosts; False if no host but `host` has loaded this code."""
        with self.database.writing() as connection:
            if self._row(connection, run_id) is not None:
                return True
            now, hosts = database_now(connection, self.clock), WORKER_HOSTS.c
            others = (hosts.until > now) & (hosts.code == code) & (hosts.name != host)
            if not connection.execute(select(exists().where(others))).scalar_one():
                return False
            self._insert(connection, run_id, code, now)
            return True

    def claim(self, run_id: str, code: str, host: str, fencing_token: int) -> RunClaim:
        """Claim a run that this host launched, or that waits for any host."""
        with self.database.writing() as connection:
            if not _is_held(connection, host, fencing_token):
                return RunClaim.REFUSED
            now, row = database_now(connection, self.clock), self._row(connection, run_id)
            taken = {"host": host, "fencing_token": fencing_token, "taken_at": now}
            if row is None:
                self._insert(connection, run_id, code, now, **taken)
                return RunClaim.OURS
            is_ours = (row.host, row.fencing_token) == (host, fencing_token)
            if row.ended_at or row.lost_at or (row.host and not is_ours):
                return RunClaim.ELSEWHERE
            connection.execute(WORKER_RUNS.update().where(_RUNS.run_id == run_id).values(taken))
            return RunClaim.OURS

    def take(self, code: str, host: str, fencing_token: int, most: int) -> list[str]:
        """Take up to `most` waiting runs, oldest first."""
        with self.database.writing() as connection:
            if not _is_held(connection, host, fencing_token):
                return []
            waiting = select(_RUNS.run_id).where(IS_WAITING, _RUNS.code == code)
            rows = connection.execute(waiting.order_by(_RUNS.asked_at, _RUNS.run_id).limit(most))
            taken = [run_id for (run_id,) in rows]
            values = {"host": host, "fencing_token": fencing_token, "taken_at": database_now(connection, self.clock)}
            connection.execute(WORKER_RUNS.update().where(_RUNS.run_id.in_(taken)).values(values))
            return taken

    def give_back(self, run_id: str, host: str, fencing_token: int) -> None:
        """Return a run that the host took but cannot begin: it waits again."""
        with self.database.writing() as connection:
            values = {"host": "", "fencing_token": 0, "taken_at": 0}
            theirs = _IS_OPEN & _is_of(host, fencing_token) & (_RUNS.run_id == run_id)
            connection.execute(WORKER_RUNS.update().where(theirs).values(values))

    def end(self, run_ids: Sequence[str], host: str, fencing_token: int) -> None:
        """Note that runs of a host have ended, and that Dagster knows it."""
        with self.database.writing() as connection:
            now = database_now(connection, self.clock)
            theirs = _IS_OPEN & _is_of(host, fencing_token) & _RUNS.run_id.in_(run_ids)
            connection.execute(WORKER_RUNS.update().where(theirs).values(ended_at=now))

    def stop(self, run_id: str) -> Stop:
        """Request the end of a run."""
        with self.database.writing() as connection:
            row = self._row(connection, run_id)
            if row is None or row.ended_at:
                return Stop.UNKNOWN
            values: dict[str, Any] = {"stop_wanted": True}
            if not row.host:
                values["ended_at"] = database_now(connection, self.clock)
            connection.execute(WORKER_RUNS.update().where(_RUNS.run_id == run_id).values(values))
            return Stop.ASKED if row.host else Stop.ENDED

    def wanted(self, code: str, host: str, fencing_token: int) -> Wanted:
        """Work for a host, in one read of the open runs, which are few."""
        is_to_stop = _is_of(host, fencing_token) & _RUNS.stop_wanted
        query = select(_RUNS.run_id, _RUNS.host, _RUNS.code).where(_IS_OPEN, (_RUNS.host == "") | is_to_stop)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(_RUNS.asked_at).limit(_AT_ONCE)).all()
        waiting = [row.code for row in rows if not row.host]
        to_stop = [row.run_id for row in rows if row.host]
        return Wanted(waiting.count(code), to_stop, {*waiting} - {code})

    def of_host(self, host: str, fencing_token: int) -> list[str]:
        """Runs that a host has taken and not ended."""
        query = select(_RUNS.run_id).where(_IS_OPEN, _is_of(host, fencing_token)).order_by(_RUNS.taken_at)
        with self.database.reading() as connection:
            return [run_id for (run_id,) in connection.execute(query)]

    def is_open(self, run_id: str) -> bool:
        """Whether the run waits for a host, or a host has it."""
        with self.database.reading() as connection:
            return bool(connection.execute(select(exists().where(_IS_OPEN, _RUNS.run_id == run_id))).scalar_one())

    def require_kept(self, run_id: str) -> None:
        """Raise RunLostError if the run's host was given up. A run outside of the store is never lost."""
        with self.database.reading() as connection:
            lost = _RUNS.lost_at > 0
            row = connection.execute(select(_RUNS.host).where(_RUNS.run_id == run_id, lost)).one_or_none()
        if row is not None:
            raise RunLostError.of(run_id, row.host)

    def _insert(self, connection: Connection, run_id: str, code: str, now: int, **taken: Any) -> None:
        nothing = {"host": "", "fencing_token": 0, "taken_at": 0, "stop_wanted": False, "lost_at": 0, "ended_at": 0}
        values = {"run_id": run_id, "code": code, "asked_at": now, "told_at": now, **nothing, **taken}
        connection.execute(WORKER_RUNS.insert().values(values))

    def _row(self, connection: Connection, run_id: str) -> Any:
        return connection.execute(select(WORKER_RUNS).where(_RUNS.run_id == run_id)).one_or_none()


def _is_of(host: str, fencing_token: int) -> ColumnElement[bool]:
    return (_RUNS.host == host) & (_RUNS.fencing_token == fencing_token)


def _is_held(connection: Connection, host: str, fencing_token: int) -> bool:
    return bool(connection.execute(select(exists().where(holds(host, fencing_token)))).scalar_one())
