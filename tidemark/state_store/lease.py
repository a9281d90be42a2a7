"""Who may do what only one may: one holder at a time, by a row that the holder renews.

Each new holder has the next fencing token. A writer that carries one is refused as soon as there is a later one
(`Fence`), however late it wakes up: what a former holder still wants to write is not written.
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
    """The lease as it is: who has it, and which fencing token is ours (None where it is not ours)."""

    holder: str
    fencing_token: int | None


@dataclass(slots=True)
class Lease:
    """One who would like to hold a lease. Of the same `holder` the last one that asks has it, at once.

    `seconds` after its last renewal somebody else may take the lease, and at once where the holder's `process` is known
    to be gone. One that `insists` asks a holder that `yields` to let go, which it does at its next renewal. Time is the
    database's, or `clock`'s (epoch seconds, for tests). `is_taken_over` says that the holder before did not let go of
    it: it may live, and not know.
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
        """Take the lease, or renew it. Raises StateStoreDownError: it is held until its time is over, then."""
        with self.database.writing() as connection:
            return self.hold_in(connection)

    def hold_in(self, connection: Connection) -> LeaseState:
        """The same within a writer's transaction: what is taken is held once that is committed."""
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
        """Renew what is held, in a writer's transaction; False where somebody else took it, or it was let go of."""
        ours = (LEASES.c.name == self.name) & (LEASES.c.fencing_token == self.fencing_token) & (LEASES.c.until > 0)
        values = {"until": self._until(database_now(connection, self.clock))}
        return connection.execute(LEASES.update().where(ours).values(values)).rowcount == 1

    def release(self) -> None:
        """Let go of what is held, so that the next one need not wait."""
        if self.fencing_token is None:
            return
        with self.database.writing() as connection:
            self._let_go(connection)

    def release_in(self, connection: Connection) -> None:
        """The same within a writer's transaction."""
        if self.fencing_token is not None:
            self._let_go(connection)

    def _is_free(self, row: Row[Any], now: int) -> bool:
        if now >= row.until or (row.holder == self.holder and self.fencing_token is None):
            return True
        return is_gone(row.process)

    @property
    def fence(self) -> Fence:
        """What a writer has to carry."""
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
    """Whether the process that a row names has ended for certain."""
    return bool(process) and ProcessIdentity.parse(process).is_gone()
