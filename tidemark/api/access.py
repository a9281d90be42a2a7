"""Callers over HTTP and their scopes: one place for the center and for Dagster's server.

A caller has a token (`Authorization: Bearer`), or a name from a proxy with a configured address, or no name. Each
request needs a scope, by its method and path; an open path needs none.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.errors import TidemarkError
from tidemark.state_store.access_tokens import token_id
from tidemark.system.caller import ALL_SCOPES, AccessScope, Caller, scopes_text
from tidemark.system.http_guard import Refusal, bearer_token, client_address, header_values
from tidemark.system.token_variable import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.state_store.access_tokens import StoredToken
    from tidemark.system.http_guard import Scope
    from tidemark.system.proxy import Proxy

    ReadTokens = Callable[[], Sequence[StoredToken]]
    Needed = Callable[[Scope], AccessScope | None]

FRESH_SECONDS: Final = 5.0
"""The longest time until every server knows a new or revoked token."""
_NEEDS_NAME: Final = "a header 'Authorization: Bearer <token>' with a token of `tidemark token create`"


def _no_tokens() -> Sequence[StoredToken]:
    return ()


def utc() -> datetime:
    """The current time."""
    return datetime.now(UTC)


@dataclass(slots=True)
class KnownTokens:
    """The stored tokens by id, read every few seconds. If the store does not answer, the last ones are used."""

    read: ReadTokens = _no_tokens
    fresh_seconds: float = FRESH_SECONDS
    _by_id: Mapping[str, StoredToken] | None = None
    _read_at: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def by_id(self) -> Mapping[str, StoredToken]:
        """Raises StateStoreDownError if they were never read."""
        if self._is_fresh():
            return self._by_id or {}
        if self._by_id is not None and self._turn.locked():
            return self._by_id  # another request reads them
        async with self._turn:
            if not self._is_fresh():
                await self._read_again()
        return self._by_id or {}

    def _is_fresh(self) -> bool:
        return self._by_id is not None and time.monotonic() - self._read_at < self.fresh_seconds

    async def _read_again(self) -> None:
        try:
            self._by_id = {token.id: token for token in await asyncio.to_thread(self.read)}
        except TidemarkError:
            if self._by_id is None:
                raise
        finally:
            self._read_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class Access:
    """Identifies callers and checks their scopes, for the guard.

    `anonymous` are the scopes of callers without a name; once a token was ever created they are `beside_tokens`.
    `token` is that of TIDEMARK_TOKEN, which has all scopes. `clock` returns the current time (aware).
    """

    needed: Needed
    token: str | None = None
    tokens: KnownTokens = field(default_factory=KnownTokens)
    proxy: Proxy | None = None
    anonymous: frozenset[AccessScope] = ALL_SCOPES
    beside_tokens: frozenset[AccessScope] = frozenset()
    clock: Callable[[], datetime] = utc

    async def admit(self, scope: Scope) -> Caller | Refusal:
        """The caller, or the refusal of the request: 401 without a name, 403 without the scope."""
        needed = self.needed(scope)
        if needed is None:
            return Caller("anonymous", "", client_address(scope), frozenset())
        try:
            caller = await self._identify(scope)
        except TidemarkError as error:
            return Refusal(503, "callers cannot be checked now", "an answer of the state store", error.message)
        if not caller.name and not caller.may(needed):
            return Refusal(401, "a token is needed", _NEEDS_NAME)
        if not caller.may(needed):
            held = scopes_text(caller.scopes) or "none"
            return Refusal(403, f"{caller.who} does not have the right to do this", f"the scope {needed.value}", held)
        return caller

    async def _identify(self, scope: Scope) -> Caller:
        """An unknown token counts as no token."""
        address, given = client_address(scope), bearer_token(scope)
        if given is not None and (caller := await self._of_token(given, address)) is not None:
            return caller
        if self.proxy is not None and (named := self.proxy.caller(address, header_values(scope))) is not None:
            return named
        return Caller("anonymous", "", address, await self._without_name())

    async def _without_name(self) -> frozenset[AccessScope]:
        if self.anonymous == self.beside_tokens or not await self.tokens.by_id():
            return self.anonymous
        return self.beside_tokens

    async def _of_token(self, given: str, address: str) -> Caller | None:
        if self.token is not None and hmac.compare_digest(given.encode("latin-1", "replace"), self.token.encode()):
            return Caller("token", TOKEN_VARIABLE, address)
        identity = token_id(given)
        stored = (await self.tokens.by_id()).get(identity) if identity else None
        if stored is None or not stored.proves(given) or not stored.is_in_force(self.clock()):
            return None
        return Caller("token", stored.name, address, stored.scopes)
