"""The settings of the HTTP interface: one validated value."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.api.errors import ApiSettingsError
from tidemark.api.request_limits import DEFAULT_WRITES_PER_SECOND
from tidemark.system.http_guard import host_names

if TYPE_CHECKING:
    from tidemark.system.proxy import Proxy

LOOPBACK: Final = "127.0.0.1"
_SHORTEST_TOKEN: Final = 16


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """The address to listen on (port 0: a free port), the callers, and the limit of writes of a caller.

    `has_tokens`: tokens were created, so callers need one even without a `token`. Raises ApiSettingsError if other
    machines could call without a name.
    """

    port: int = 0
    host: str = LOOPBACK
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    writes_per_second: float = DEFAULT_WRITES_PER_SECOND
    proxy: Proxy | None = None
    has_tokens: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _SHORTEST_TOKEN:
            raise ApiSettingsError("the API's token is too short", expected=f"at least {_SHORTEST_TOKEN} characters")
        if not self.needs_name and not _is_loopback(self.host):
            raise ApiSettingsError(
                "without a token, the API listens only on this machine",
                expected=LOOPBACK,
                found=self.host,
                hint="tidemark token create NAME --scope read, or leave the address out",
            )
        if not self.writes_per_second > 0:
            raise ApiSettingsError("the limit of writes is not valid", expected="more than 0 a second")

    @property
    def needs_name(self) -> bool:
        """Whether callers need a name."""
        return self.token is not None or self.proxy is not None or self.has_tokens

    @property
    def host_names(self) -> frozenset[str]:
        """The accepted names in a Host header."""
        return host_names(self.host, self.allowed_hosts)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
