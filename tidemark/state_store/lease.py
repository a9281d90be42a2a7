"""Who may drive the center: one holder at a time, by a row that the holder renews.

Each new holder has the next fencing token. A writer that carries one is refused as soon as there is a later one
(`Fence`), however late it wakes up: what a former holder still wants to write is not written.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import select, text

from tidemark.state_store.fence import Fence
from tidemark.state_store.schema import LEASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database

CENTER: Final = "center"
_SECOND: Final = 1_000_000


class LeaseState(NamedTuple):
    """The lease as it is: who has it, and which fencing token is ours (None where it is not ours)."""

    holder: str
    fencing_token: int | None


@dataclass(slots=True)
class Lease:
    """One who would like to hold a lease. Of the same `holder` the last one that asks has it, at once.

    `seconds` after its last renewal somebody else may take the lease. One that `insists` asks a holder that `yields` to
    let go, which it does at its next renewal. Time is the database's, or `clock`'s (epoch seconds, for tests).
    """

    database: Database
    holder: str
    seconds: float
    name: str = CENTER
    insists: bool = False
    yields: bool = False
    clock: Callable[[], float] | None = None
    fencing_token: int | None = None

    def hold(self) -> LeaseState:
        """Take the lease, or renew it. Raises StateStoreDownError: it is held until its time is over, then."""
        with self.database.writing() as connection:
            now = self._now(connection)
            row = connection.execute(select(LEASES).where(LEASES.c.name == self.name)).one_or_none()
            if row is None:
                return self._take(connection, 1, now)
            if row.holder == self.holder and row.fencing_token == self.fencing_token and row.until > 0:
                return self._let_go(connection) if self.yields and row.wanted else self._renew(connection, now)
            if now >= row.until or (row.holder == self.holder and self.fencing_token is None):
                return self._take(connection, row.fencing_token + 1, now)
            self.fencing_token = None
            if self.insists:
                connection.execute(LEASES.update().where(LEASES.c.name == self.name).values(wanted=True))
            return LeaseState(row.holder, None)

    def release(self) -> None:
        """Let go of what is held, so that the next one need not wait."""
        if self.fencing_token is None:
            return
        with self.database.writing() as connection:
            self._let_go(connection)

    @property
    def fence(self) -> Fence:
        """What a writer has to carry."""
        return Fence(self.name, self.fencing_token or 0, self.holder)

    def _take(self, connection: Connection, fencing_token: int, now: int) -> LeaseState:
        values = {"holder": self.holder, "fencing_token": fencing_token, "until": self._until(now), "wanted": False}
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
        return now + int(self.seconds * _SECOND)

    def _now(self, connection: Connection) -> int:
        """Microseconds since 1970. All holders of a PostgreSQL lease go by one clock."""
        if self.clock is not None:
            return int(self.clock() * _SECOND)
        if self.database.is_sqlite:
            return int(time.time() * _SECOND)
        now = connection.execute(text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
        return int(now.scalar_one())
