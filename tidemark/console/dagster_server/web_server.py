"""Dagster's web server behind guards: `python -m tidemark.console.dagster_server.web_server`.

Dagster asks for no password and looks at neither Host nor Origin, so any page in a browser on this machine could launch
runs and wipe assets. Everything goes through `HttpGuard`; `/report_asset_*`, which tells of materializations and checks
that no run made, is for callers with a token. Connections have the deadlines and the limit that the center's have,
bodies a length, and GraphQL queries a size. What callers change is in the audit log.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import uvicorn
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware

from tidemark.api.connection_limits import DEADLINES, Connections, DeadlineProtocol, Phase
from tidemark.console.dagster_server.query_guard import QueryGuard
from tidemark.console.dagster_server.recorded_actions import ReportGuard, ServedStore
from tidemark.console.dagster_server.server_arguments import server_arguments
from tidemark.dagster_internals.serving import workspace_context
from tidemark.system.files import keep_files_private
from tidemark.system.http_guard import HttpGuard, Refusal, host_names, send_refusal
from tidemark.system.settings import Settings
from tidemark.system.token_variable import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence

    from tidemark.dagster_internals.serving import WorkspaceProcessContext
    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

_POLL_RATE_MS: Final = 2000
_STOP_SECONDS: Final = 3
_HEADER_BYTES: Final = 64 * 1024
_MESSAGE_BYTES: Final = 256 * 1024
_ANSWER_SECONDS: Final = 600.0
# Defaults of `dagster-webserver`: milliseconds of a statement, seconds of a connection, overflow.
_DATABASE: Final = (15_000, 3_600, 20)


class GuardedWebserver(DagsterWebserver[Any, Any]):
    """Dagster's web server with guards around all its routes."""

    def __init__(
        self,
        context: WorkspaceProcessContext,
        host: str,
        token: str | None,
        store: ServedStore,
        allowed_hosts: Sequence[str] = (),
    ) -> None:
        super().__init__(context, live_data_poll_rate=_POLL_RATE_MS)
        self._names, self._access, self._store = host_names(host, allowed_hosts), store.access(token), store

    def build_middleware(self) -> list[Middleware]:
        return [
            Middleware(HttpGuard, self._names, self._access.admit, post_only=["/graphql"]),
            Middleware(ReportGuard, self._store.record),
            Middleware(QueryGuard, self._store.record),
            Middleware(DownloadGuard),
            *super().build_middleware(),
        ]


def main() -> None:
    """Serve until SIGINT."""
    keep_files_private()
    options = server_arguments(__doc__)
    # Child processes do not need the token.
    token = os.environ.pop(TOKEN_VARIABLE, None)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with dg.DagsterInstance.get() as instance:
        instance.optimize_for_webserver(*_DATABASE)
        with workspace_context(instance, options.workspace, version("dagster-webserver")) as context:
            store = ServedStore(Settings.load(os.environ))
            app = GuardedWebserver(context, options.host, token, store, options.allowed_hosts).create_asgi_app()
            # Once all is closed, it raises the signal again that ended it.
            with suppress(KeyboardInterrupt):
                uvicorn.Server(configuration(app, options.host, options.port)).run()


def configuration(
    app: Callable[..., Any], host: str, port: int, connections: Connections | None = None
) -> uvicorn.Config:
    """The server's configuration. It uses h11, which limits headers; open subscriptions do not delay the end."""
    limits = connections or Connections(deadlines={**DEADLINES, Phase.ANSWER: _ANSWER_SECONDS})
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        proxy_headers=False,
        http=partial(DeadlineProtocol, connections=limits),  # type: ignore[arg-type]  # called like the class
        h11_max_incomplete_event_size=_HEADER_BYTES,
        ws_max_size=_MESSAGE_BYTES,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


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


if __name__ == "__main__":
    main()
