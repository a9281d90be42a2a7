"""The caller of a request and the caller's rights, for all interfaces alike.

metrics   the metrics for Prometheus
read      every query, and metrics
report    events and counts from other systems
operate   backfills, Dagster's mutations, and read
admin     everything, and the audit log
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable


class AccessScope(Enum):
    """A right of a caller."""

    METRICS = "metrics"
    READ = "read"
    REPORT = "report"
    OPERATE = "operate"
    ADMIN = "admin"


_INCLUDED: Final = {
    AccessScope.READ: frozenset({AccessScope.METRICS}),
    AccessScope.OPERATE: frozenset({AccessScope.READ, AccessScope.METRICS}),
    AccessScope.ADMIN: frozenset(AccessScope),
}
ALL_SCOPES: Final = frozenset(AccessScope)

_IPV4: Final = 4
CallerKind = Literal["token", "proxy", "account", "anonymous"]


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller and the kind of proof; `source` is the address of the request."""

    kind: CallerKind
    name: str
    source: str
    scopes: frozenset[AccessScope] = ALL_SCOPES

    @property
    def who(self) -> str:
        """The identity. Names of different kinds cannot be confused."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def limited_by(self) -> str:
        """The key for limits: the identity, or the network of a caller without a name."""
        return self.who if self.name else _one_machine(self.source)

    def may(self, scope: AccessScope) -> bool:
        """Whether the caller has this scope, or one that includes it."""
        return scope in self.scopes or any(scope in _INCLUDED.get(held, ()) for held in self.scopes)

    def signature(self, said: str) -> str:
        """The name to store with a request: the `said` name, and the identity."""
        if not self.name:
            return said
        return f"{said}, by {self.who}" if said else self.who


def _one_machine(address: str) -> str:
    """The network whose addresses one machine can choose freely: all of loopback, and 64 bits of IPv6."""
    try:
        given = ipaddress.ip_address(address)
    except ValueError:
        return address
    peer = (given.ipv4_mapped or given) if isinstance(given, ipaddress.IPv6Address) else given
    if peer.is_loopback:
        return "loopback"
    return str(peer) if peer.version == _IPV4 else str(ipaddress.ip_network((peer, 64), strict=False))


def scopes_text(scopes: Iterable[AccessScope]) -> str:
    """Scopes as stored and shown text, in the order of the enumeration."""
    held = frozenset(scopes)
    return ",".join(scope.value for scope in AccessScope if scope in held)


def this_account() -> Caller:
    """The operating system's account of this process. No environment variable changes it."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:  # a container may run under a number that is in no password file
        name = str(number)
    return Caller("account", f"{name}@{socket.gethostname()}", "command line")
