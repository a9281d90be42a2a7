"""Hosts whose warm workers take runs of one store: alive or given up, and their free slots.

A host joins under its name and renews its lease. Another process that finds it expired gives the host up with all its
runs, in one transaction. The host must then join again, with the next fencing token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from tidemark.state_store.database_clock import SECOND, database_now
from tidemark.state_store.errors import HostNameTakenError
from tidemark.state_store.schema import WORKER_HOSTS, WORKER_RUNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection

    from tidemark.state_store.database import Database

HOST_SECONDS: Final = 20.0
"""Seconds after the last heartbeat until a host may be given up."""


@dataclass(frozen=True, slots=True)
class HostPool:
    """The offer of a host: `slots` runs at a time, by `pools` (`default=2`), with the code that its workers load."""

    slots: int
    pools: str
    code: str


@dataclass(frozen=True, slots=True)
class WorkerHost:
    """A stored host, with its last heartbeat `seen_seconds` ago; it counts while `is_there`."""

    name: str
    pool: HostPool
    running: int
    fencing_token: int
    seen_seconds: float
    is_there: bool


@dataclass(frozen=True, slots=True)
class WorkerHosts:
    """All methods raise StateStoreDownError.

    `clock` (epoch seconds) is for tests; otherwise the database's time is used.
    """

    database: Database
    seconds: float = HOST_SECONDS
    clock: Callable[[], float] | None = None

    def join(self, name: str, identity: str, pool: HostPool) -> int:
        """The host's new fencing token. Runs under an older one are lost.

        Raises HostNameTakenError if another living identity has the name.
        """
        with self.database.writing() as connection:
            now = database_now(connection, self.clock)
            row = _require_free(connection, name, identity, now)
            of_pool = {"slots": pool.slots, "pools": pool.pools, "code": pool.code, "running": 0}
            heard = {"joined_at": now, "seen_at": now, "until": now + int(self.seconds * SECOND)}
            values = {"identity": identity, **of_pool, **heard}
            if row is None:
                connection.execute(WORKER_HOSTS.insert().values(name=name, fencing_token=1, **values))
                return 1
            token = int(row.fencing_token) + 1
            connection.execute(
                WORKER_HOSTS.update().where(WORKER_HOSTS.c.name == name).values(fencing_token=token, **values)
            )
            _lose_runs(connection, name, token - 1, now)
            return token

    def require_free(self, name: str, identity: str) -> None:
        """Raise HostNameTakenError in the same cases as `join`."""
        with self.database.reading() as connection:
            _require_free(connection, name, identity, database_now(connection, self.clock))

    def renew(self, name: str, fencing_token: int, pool: HostPool, running: int) -> bool:
        """Send a heartbeat; False if the host was given up and has to join again."""
        with self.database.writing() as connection:
            now = database_now(connection, self.clock)
            values = {"slots": pool.slots, "pools": pool.pools, "code": pool.code, "running": running}
            done = connection.execute(
                WORKER_HOSTS.update()
                .where(holds(name, fencing_token))
                .values(seen_at=now, until=now + int(self.seconds * SECOND), **values)
            )
            return done.rowcount == 1

    def leave(self, name: str, fencing_token: int) -> None:
        """Leave: the host takes no more runs, and loses its current ones."""
        with self.database.writing() as connection:
            now = database_now(connection, self.clock)
            connection.execute(WORKER_HOSTS.update().where(holds(name, fencing_token)).values(until=0, running=0))
            _lose_runs(connection, name, fencing_token, now)

    def give_up(self) -> list[str]:
        """Give up expired hosts with their runs; returns their names."""
        with self.database.reading() as connection:
            if not connection.execute(select(WORKER_HOSTS.c.name).where(self._is_silent(connection)).limit(1)).all():
                return []
        with self.database.writing() as connection:
            now, silent = database_now(connection, self.clock), self._is_silent(connection)
            gone = connection.execute(select(WORKER_HOSTS.c.name, WORKER_HOSTS.c.fencing_token).where(silent)).all()
            for name, fencing_token in gone:
                connection.execute(WORKER_HOSTS.update().where(holds(name, fencing_token)).values(until=0, running=0))
                _lose_runs(connection, name, fencing_token, now)
            return [name for name, _ in gone]

    def all(self) -> list[WorkerHost]:
        """All hosts that ever joined, by name."""
        with self.database.reading() as connection:
            now = database_now(connection, self.clock)
            rows = connection.execute(select(WORKER_HOSTS).order_by(WORKER_HOSTS.c.name)).all()
        return [
            WorkerHost(
                row.name,
                HostPool(row.slots, row.pools, row.code),
                row.running,
                row.fencing_token,
                (now - row.seen_at) / SECOND,
                row.until > now,
            )
            for row in rows
        ]

    def present(self) -> list[WorkerHost]:
        """The living hosts."""
        return [host for host in self.all() if host.is_there]

    def _is_silent(self, connection: Connection) -> ColumnElement[bool]:
        return (WORKER_HOSTS.c.until > 0) & (WORKER_HOSTS.c.until <= database_now(connection, self.clock))


def _require_free(connection: Connection, name: str, identity: str, now: int) -> Any:
    """The row of the name, if it exists."""
    row = connection.execute(select(WORKER_HOSTS).where(WORKER_HOSTS.c.name == name)).one_or_none()
    if row is not None and row.identity != identity and row.until > now:
        raise HostNameTakenError.of(name, (now - row.seen_at) / SECOND)
    return row


def holds(name: str, fencing_token: int) -> ColumnElement[bool]:
    """Whether a host's row has this fencing token, and the host was not given up."""
    hosts = WORKER_HOSTS.c
    return (hosts.name == name) & (hosts.fencing_token == fencing_token) & (hosts.until > 0)


def _lose_runs(connection: Connection, name: str, fencing_token: int, now: int) -> None:
    """Mark the host's runs up to this fencing token as lost."""
    runs = WORKER_RUNS.c
    theirs = (runs.host == name) & (runs.fencing_token <= fencing_token) & (runs.ended_at == 0) & (runs.lost_at == 0)
    connection.execute(WORKER_RUNS.update().where(theirs).values(lost_at=now, told_at=0))
