"""Named access tokens of callers. The store keeps only a digest of each, so a reader of the store cannot use them.

A token is `tm_ID_SECRET`: ID finds its row. SECRET has 256 random bits, so one SHA-256 is as safe as a slow hash.
Scanners for leaked secrets recognize the token by its prefix.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.errors import TokenError
from tidemark.state_store.schema import ACCESS_TOKENS
from tidemark.state_store.transition import instant_of, microseconds
from tidemark.system.caller import AccessScope, scopes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database

PREFIX: Final = "tm_"
AT_A_TIME: Final = 2
"""Valid tokens of one name at a time: users create the next one before they revoke the last one."""
_MOST_NAMES: Final = 1_000
_TOKEN: Final = re.compile(r"tm_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token without its secret. Instants are in UTC. With `expires_at` None it never expires."""

    id: str
    name: str
    scopes: frozenset[AccessScope]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    digest: str

    def is_in_force(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired at `now` (aware)."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def proves(self, given: str) -> bool:
        """Whether `given` is this token. The time of the comparison does not depend on `given`."""
        return hmac.compare_digest(_digest(given), self.digest)


class AccessTokens:
    """The tokens of one store. All methods raise StateStoreDownError.

    `clock` (epoch seconds) is for tests; otherwise the database's time is used.
    """

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database, self._clock = database, clock

    def create(
        self, name: str, scopes: Collection[AccessScope], created_by: str, expires_at: datetime | None = None
    ) -> str:
        """Create a token and return it, the only time that it is visible.

        Raises TokenError if the name has two valid ones.
        """
        if not _NAME.fullmatch(name):
            raise TokenError.of_name(name)
        identity = secrets.token_hex(8)
        token = f"{PREFIX}{identity}_{secrets.token_urlsafe(32)}"
        with self._database.writing() as connection:
            now = database_now(connection, self._clock)
            self._require_room(connection, name, now)
            connection.execute(
                ACCESS_TOKENS.insert().values(
                    id=identity,
                    name=name,
                    scopes=scopes_text(scopes),
                    digest=_digest(token),
                    created_by=created_by,
                    created_at=now,
                    expires_at=microseconds(expires_at) if expires_at else 0,
                    revoked_at=0,
                )
            )
        return token

    def rows(self) -> list[StoredToken]:
        """All tokens, also revoked and expired ones, oldest first."""
        query = select(ACCESS_TOKENS).order_by(ACCESS_TOKENS.c.created_at, ACCESS_TOKENS.c.id)
        with self._database.reading() as connection:
            return [_token_of(row) for row in connection.execute(query)]

    def revoke(self, wanted: str) -> list[str]:
        """Revoke the token with this id, or all with this name, and return the ids.

        Raises TokenError if none matches.
        """
        tokens = ACCESS_TOKENS.c
        meant = (tokens.id == wanted) | (tokens.name == wanted)
        with self._database.writing() as connection:
            if not connection.execute(select(func.count()).where(meant)).scalar():
                raise TokenError.of_unknown(wanted)
            open_ids = list(connection.execute(select(tokens.id).where(meant, tokens.revoked_at == 0)).scalars())
            now = database_now(connection, self._clock)
            connection.execute(ACCESS_TOKENS.update().where(tokens.id.in_(open_ids)).values(revoked_at=now))
        return sorted(open_ids)

    def _require_room(self, connection: Connection, name: str, now: int) -> None:
        tokens = ACCESS_TOKENS.c
        in_force = (tokens.revoked_at == 0) & ((tokens.expires_at == 0) | (tokens.expires_at > now))
        ids = list(connection.execute(select(tokens.id).where(in_force, tokens.name == name)).scalars())
        if len(ids) >= AT_A_TIME:
            raise TokenError.of_too_many(name, ids)
        if connection.execute(select(func.count()).where(in_force)).scalar_one() >= _MOST_NAMES * AT_A_TIME:
            raise TokenError.of_full_store(_MOST_NAMES * AT_A_TIME)


def token_id(given: str) -> str:
    """The id in a token; empty if the text is not a token."""
    match = _TOKEN.fullmatch(given)
    return match[1] if match else ""


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _token_of(row: Any) -> StoredToken:
    return StoredToken(
        id=row.id,
        name=row.name,
        scopes=frozenset(AccessScope(word) for word in row.scopes.split(",") if word),
        created_by=row.created_by,
        created_at=instant_of(row.created_at),
        expires_at=instant_of(row.expires_at) if row.expires_at else None,
        revoked_at=instant_of(row.revoked_at) if row.revoked_at else None,
        digest=row.digest,
    )
