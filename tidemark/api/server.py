"""Where the HTTP interface listens: on this machine only, unless told otherwise and given a token."""

from __future__ import annotations

import ipaddress
import socket
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from tidemark.api.app import Api
from tidemark.center.errors import ApiSettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.center.center import DependencyCenter

LOOPBACK: Final = "127.0.0.1"
_SHORTEST_TOKEN: Final = 16
_POLL_SECONDS: Final = 0.01


def api_server(
    center: DependencyCenter,
    port: int,
    *,
    host: str = LOOPBACK,
    token: str | None = None,
    status: Callable[[], Mapping[str, Any]] = dict,
) -> uvicorn.Server:
    """A server to `run()`; it stops when its `should_exit` is set. Raises ApiSettingsError."""
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise ApiSettingsError("the API's token is too short", expected=f"at least {_SHORTEST_TOKEN} characters")
    if token is None and not _is_loopback(host):
        raise ApiSettingsError(
            "without a token the API listens on this machine only",
            expected=LOOPBACK,
            found=host,
            hint="give it a token, or leave the address out",
        )
    return uvicorn.Server(
        uvicorn.Config(Api(center, token, status=status).app, host=host, port=port, log_level="warning")
    )


@contextmanager
def served(
    center: DependencyCenter,
    port: int,
    *,
    host: str = LOOPBACK,
    token: str | None = None,
    status: Callable[[], Mapping[str, Any]] = dict,
) -> Iterator[str]:
    """Serve in a thread until the block ends; gives the URL. Port 0 is a free one. Raises ApiSettingsError."""
    server = api_server(center, port, host=host, token=token, status=status)
    with _listening(host, port) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="api")
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(_POLL_SECONDS)
            yield f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ApiSettingsError(
            "the API cannot listen there",
            found=f"{host} port {port}: {error.strerror or error}",
            hint="choose another port, or an address of this machine",
        ) from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
