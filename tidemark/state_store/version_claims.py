"""Claims on table versions in use: VACUUM keeps them until the reader is done or dead."""

from __future__ import annotations

import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, select

from tidemark.state_store.database_clock import SECOND, database_now
from tidemark.state_store.errors import StateStoreDownError
from tidemark.state_store.held_leases import SECONDS, renewed
from tidemark.state_store.schema import VERSION_CLAIMS
from tidemark.system.process_identity import ProcessIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.state_store.database import Database


class VersionClaim(NamedTuple):
    """`who` reads the version."""

    version: int
    who: str


@contextmanager
def reading(database: Database, location: str, version: int, who: str, seconds: float = SECONDS) -> Iterator[None]:
    """Keep a version of the table at `location` from VACUUM during the block; `who` is shown as the reason.

    Raises StateStoreDownError, before the block.
    """
    claim = uuid.uuid4().hex
    values = {"claim": claim, "location": location, "version": version, "who": who}
    values |= {"process": str(ProcessIdentity.of_this_process())}

    def renew() -> None:
        # A late claim that was removed is made again, which does no harm.
        with database.writing() as connection:
            connection.execute(delete(VERSION_CLAIMS).where(VERSION_CLAIMS.c.claim == claim))
            until = database_now(connection) + int(seconds * SECOND)
            connection.execute(VERSION_CLAIMS.insert().values(**values, until=until))

    renew()
    try:
        with renewed(renew, seconds):
            yield
    finally:
        with suppress(StateStoreDownError), database.writing() as connection:  # it expires
            connection.execute(delete(VERSION_CLAIMS).where(VERSION_CLAIMS.c.claim == claim))


def claims_of_readers(database: Database, location: str) -> list[VersionClaim]:
    """Versions of the table in use now; claims of dead readers are removed. Raises StateStoreDownError."""
    with database.writing() as connection:
        now = database_now(connection)
        rows = connection.execute(select(VERSION_CLAIMS).where(VERSION_CLAIMS.c.location == location)).all()
        dead = [row.claim for row in rows if row.until < now or ProcessIdentity.parse(row.process).is_gone()]
        if dead:
            connection.execute(delete(VERSION_CLAIMS).where(VERSION_CLAIMS.c.claim.in_(dead)))
    return [VersionClaim(row.version, row.who) for row in rows if row.claim not in dead]
