"""Leases for work that only one process may do: a row that its holder renews.

Each new holder gets the next fencing token. A writer with an older token is refused (`Fence`), however late it wakes
up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import select

from tidemark.state_store.database_clock import SECOND, database_now
from tidemark.state_store.fence import Fence
from tidemark.state_store.schema import LEASES
from tidemark.system.process_identity import ProcessIdentity

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Row

    from tidemark.state_store.database import Database

CENTER: Final = "center"


class LeaseState(NamedTuple):
    """The holder of a lease, and our fencing token (None if we do not hold it)."""

    holder: str
    fencing_token: int | None


@dataclass(slots=True)
class Lease:
    """A candidate for a lease. For the same `holder`, the newest candidate gets it at once.

    Another holder may take the lease `seconds` after its last renewal, or at once if the holder's `process` is known to
    have ended. A candidate that `insists` asks a holder that `yields` to release it at its next renewal. Time is the
    database's, or `clock`'s (epoch seconds, for tests). `is_taken_over` means that the earlier holder did not release
    it and may still run.
    """

    database: Database
    holder: str
    seconds: float
    name: str = CENTER
    insists: bool = False
    yields: bool = False
    process: str = ""
    clock: Callable[[], float] | None = None
    fencing_token: int | None = None
    is_taken_over: bool = False

    def hold(self) -> LeaseState:
        """Take or renew the lease. Raises StateStoreDownError; the lease then stays until it expires."""
        with self.database.writing() as connection:
            return self.hold_in(connection)

    def hold_in(self, connection: Connection) -> LeaseState:
        """As `hold`, in a writer's transaction; the lease is held after the commit."""
        now = database_now(connection, self.clock)
        row = connection.execute(select(LEASES).where(LEASES.c.name == self.name)).one_or_none()
        if row is None:
            return self._take(connection, 1, now)
        if row.holder == self.holder and row.fencing_token == self.fencing_token and row.until > 0:
            return self._let_go(connection) if self.yields and row.wanted else self._renew(connection, now)
        if self._is_free(row, now):
            self.is_taken_over = row.until > 0 and row.holder != self.holder and not is_gone(row.process)
            return self._take(connection, row.fencing_token + 1, now)
        self.fencing_token = None
        if self.insists:
            connection.execute(LEASES.update().where(LEASES.c.name == self.name).values(wanted=True))
        return LeaseState(row.holder, None)

    def renew_in(self, connection: Connection) -> bool:
        """Renew in a writer's transaction; False if another process took the lease, or it was released."""
        ours = (LEASES.c.name == self.name) & (LEASES.c.fencing_token == self.fencing_token) & (LEASES.c.until > 0)
        values = {"until": self._until(database_now(connection, self.clock))}
        return connection.execute(LEASES.update().where(ours).values(values)).rowcount == 1

    def release(self) -> None:
        """Release the lease, so that the next holder need not wait."""
        if self.fencing_token is None:
            return
        with self.database.writing() as connection:
            self._let_go(connection)

    def release_in(self, connection: Connection) -> None:
        """The same in a writer's transaction."""
        if self.fencing_token is not None:
            self._let_go(connection)

    def _is_free(self, row: Row[Any], now: int) -> bool:
        if now >= row.until or (row.holder == self.holder and self.fencing_token is None):
            return True
        return is_gone(row.process)

    @property
    def fence(self) -> Fence:
        """The fence for writers."""
        return Fence(self.name, self.fencing_token or 0, self.holder)

    def _take(self, connection: Connection, fencing_token: int, now: int) -> LeaseState:
        values = {
            "holder": self.holder,
            "fencing_token": fencing_token,
            "until": self._until(now),
            "wanted": False,
            "process": self.process,
        }
        if fencing_token == 1:
            connection.execute(LEASES.insert().values(name=self.name, **values))
        else:
            connection.execute(LEASES.update().where(LEASES.c.name == self.name).values(values))
        self.fencing_token = fencing_token
        return LeaseState(self.holder, fencing_token)

    def _renew(self, connection: Connection, now: int) -> LeaseState:
        ours = (LEASES.c.name == self.name) & (LEASES.c.fencing_token == self.fencing_token)
        connection.execute(LEASES.update().where(ours).values(until=self._until(now)))
        return LeaseState(self.holder, self.fencing_token)

    def _let_go(self, connection: Connection) -> LeaseState:
        ours = (LEASES.c.name == self.name) & (LEASES.c.fencing_token == self.fencing_token)
        connection.execute(LEASES.update().where(ours).values(until=0))
        self.fencing_token = None
        return LeaseState("", None)

    def _until(self, now: int) -> int:
        return now + int(self.seconds * SECOND)


def is_gone(process: str) -> bool:
    """Whether the process in a row has certainly ended."""
    return bool(process) and ProcessIdentity.parse(process).is_gone()
