"""Where the HTTP interface listens: on this machine only, unless told otherwise and given a token."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

import uvicorn

from sensors.dependency_center.detectors.api.app import Api
from sensors.dependency_center.errors import ApiSettingsError

if TYPE_CHECKING:
    from sensors.dependency_center.center import DependencyCenter

LOOPBACK: Final = "127.0.0.1"
_SHORTEST_TOKEN: Final = 16


def api_server(
    center: DependencyCenter, port: int, *, host: str = LOOPBACK, token: str | None = None
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
    return uvicorn.Server(uvicorn.Config(Api(center, token).app, host=host, port=port, log_level="warning"))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
