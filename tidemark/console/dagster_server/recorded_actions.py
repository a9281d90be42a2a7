"""Writes changes through Dagster's web server to the audit log before they happen; if that fails, they are refused.

This module records `/report_asset_*`, which writes materializations, checks and observations without a run. The query
guard records mutations.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tidemark.api.access import Access, KnownTokens
from tidemark.errors import TidemarkError
from tidemark.state_store.access_tokens import AccessTokens
from tidemark.state_store.audit_log import AuditEntry, AuditLog
from tidemark.state_store.database import Database
from tidemark.system.caller import AccessScope
from tidemark.system.http_guard import Refusal, caller_of, send_refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tidemark.state_store.access_tokens import StoredToken
    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send
    from tidemark.system.settings import Settings

    Record = Callable[[AuditEntry], Awaitable[Refusal | None]]
    """Writes an entry; returns a refusal if the entry cannot be written and the action must not happen."""

REPORTS: Final = "/report_asset_"
_ON_THE_PAGES: Final = frozenset({AccessScope.READ, AccessScope.OPERATE})
_BEHIND_A_PROXY: Final = frozenset({AccessScope.READ})


def needed_scope(request: Scope) -> AccessScope:
    """The scope that a request to Dagster's web server needs. The query guard requires more for a mutation."""
    return AccessScope.REPORT if request["path"].startswith(REPORTS) else AccessScope.READ


class ServedStore:
    """The state store of Dagster's web server, opened when the first caller needs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _database(self) -> Database:
        return Database.of(self._settings)

    @cached_property
    def _audit(self) -> AuditLog:
        return AuditLog(self._database)

    def access(self, token: str | None) -> Access:
        """The access rules: every caller of this machine may use the pages; behind a proxy, callers with the scope."""
        proxy = self._settings.proxy
        anonymous = _ON_THE_PAGES if proxy is None else _BEHIND_A_PROXY
        return Access(needed_scope, token, KnownTokens(self._tokens), proxy, anonymous, anonymous)

    async def record(self, entry: AuditEntry) -> Refusal | None:
        """Write an entry; a refusal if the store does not answer."""
        try:
            await asyncio.to_thread(lambda: self._audit.add(entry))
        except TidemarkError as error:
            return Refusal(
                503, "this action cannot be recorded in the audit log", "an answer of the state store", error.message
            )
        return None

    def _tokens(self) -> Sequence[StoredToken]:
        return AccessTokens(self._database).rows()


class ReportGuard:
    """An ASGI application around Dagster's: records each request to `/report_asset_*`."""

    def __init__(self, app: AsgiApp, record: Record) -> None:
        self._app, self._record = app, record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(REPORTS):
            refusal = await self._record(_entry(scope))
            if refusal is not None:
                await send_refusal(refusal, send)
                return
        await self._app(scope, receive, send)


def _entry(scope: Scope) -> AuditEntry:
    caller, path = caller_of(scope), scope["path"]
    what: Any = scope["query_string"].decode("latin-1")
    return AuditEntry(caller.who, caller.source, path.split("/")[1], f"{path}?{what}" if what else path)
