"""The HTTP interface on a socket, in a thread, until it is stopped."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from tidemark.api.app import api_app
from tidemark.api.connection_limits import Connections, DeadlineProtocol
from tidemark.api.errors import ApiSettingsError
from tidemark.api.live_changes import LiveChanges
from tidemark.api.request_limits import MAX_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.api.options import ApiOptions
    from tidemark.center.baseline import CenterForecast
    from tidemark.center.center import DependencyCenter
    from tidemark.system.http_guard import AsgiApp
    from tidemark.warehouse.warehouse import Warehouse

_POLL_SECONDS: Final = 0.01
_ACCEPTED_AT_ONCE: Final = 16
"""The connections that asyncio accepts at once, before they are counted."""
_WAITING_TO_BE_ACCEPTED: Final = 2_048
_SWITCH_SECONDS: Final = 0.0005
"""The longest time until a thread that answers yields to one that decides. Python's 5 ms would be ten waits in a
decision."""
_GRACE_SECONDS: Final = 5
_KEEP_ALIVE_SECONDS: Final = 5


@contextmanager
def serve_in_thread(
    center: DependencyCenter,
    forecast: CenterForecast,
    options: ApiOptions,
    *,
    status: Callable[[], Mapping[str, Any]] = dict,
    connections: Connections | None = None,
    warehouse: Warehouse | None = None,
) -> Iterator[str]:
    """Serves in a thread until the block ends; gives the URL. Raises ApiSettingsError.

    The end takes a few seconds at most: active requests are answered, half-sent ones are dropped.
    """
    live = LiveChanges(center.store.read)
    app = api_app(center, forecast, options, status, warehouse, live)
    server = _server(app, connections or Connections())
    with _listening(options.host, options.port) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="api")
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(_POLL_SECONDS)
            listener.listen(_WAITING_TO_BE_ACCEPTED)
            yield _url(options.host, listener.getsockname()[1])
        finally:
            live.close()
            server.should_exit = True
            thread.join()
            sys.setswitchinterval(before)


def _server(app: AsgiApp, connections: Connections) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=partial(DeadlineProtocol, connections=connections),  # type: ignore[arg-type]  # called like the class
            ws="none",
            log_level="error",
            proxy_headers=False,
            server_header=False,
            backlog=_ACCEPTED_AT_ONCE,
            limit_concurrency=connections.limit + _ACCEPTED_AT_ONCE,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ApiSettingsError(
            "the API cannot listen on this address",
            found=f"{host} port {port}: {error.strerror or error}",
            hint="choose another port, or an address of this machine",
        ) from error
