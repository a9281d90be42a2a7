"""Dagster's endpoints for facts that no run produced: for callers with the token. Its own pages report by GraphQL.

A header by which a browser says where it is proves nothing: anybody writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.system.http_guard import Refusal, has_token, send_refusal

if TYPE_CHECKING:
    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

_REPORTS: Final = "/report_asset_"


class ReportGuard:
    """An ASGI application around Dagster's: `/report_asset_*` writes materializations, checks and observations."""

    def __init__(self, app: AsgiApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_REPORTS) and not self._may_report(scope):
            needed = "the header 'Authorization: Bearer <token>' with the token of TIDEMARK_TOKEN"
            presented = "another token, or none" if self._token else "no TIDEMARK_TOKEN in this server's environment"
            await send_refusal(Refusal(401, "a token is needed for reports about assets", needed, presented), send)
            return
        await self._app(scope, receive, send)

    def _may_report(self, scope: Scope) -> bool:
        return self._token is not None and has_token(scope, self._token)
