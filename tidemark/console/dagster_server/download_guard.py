"""Answers requests for files that do not exist, where Dagster ends with an error of the server and a traceback.

Every account of this machine can ask for any path, so each traceback would be a way to fill the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.system.http_guard import Refusal, send_refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

_DOWNLOADS: Final = ("/logs/", "/download_debug/", "/notebook", "/dagit/notebook")


class DownloadGuard:
    """An ASGI application around Dagster's: 404 for a download that fails before its answer begins."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(_DOWNLOADS):
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def begin(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, begin)
        except Exception:
            if has_begun:
                raise
            await send_refusal(Refusal(404, "there is no such file", "a file that Dagster's pages link to"), send)
