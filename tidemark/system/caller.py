"""Who calls, and what a caller may do: the words that all ways in have in common.

metrics   the figures for Prometheus
read      every question, and metrics
report    events and counts of other systems
operate   backfills and Dagster's mutations, and read
admin     everything, and the audit log
"""

from __future__ import annotations

import os
import pwd
import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable


class AccessScope(Enum):
    """What a caller may do."""

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

CallerKind = Literal["token", "proxy", "account", "anonymous"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who was authenticated, by what kind of proof; `source` is where the request came from."""

    kind: CallerKind
    name: str
    source: str
    scopes: frozenset[AccessScope] = ALL_SCOPES

    @property
    def who(self) -> str:
        """The identity: no name of one kind is that of another kind."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def limited_by(self) -> str:
        """What limits count by: the identity, or the address of a caller without one."""
        return self.who if self.name else self.source

    def may(self, scope: AccessScope) -> bool:
        """Whether the caller has this scope, or one that includes it."""
        return scope in self.scopes or any(scope in _INCLUDED.get(held, ()) for held in self.scopes)

    def signature(self, said: str) -> str:
        """The name that is kept with what the caller asks for: what he `said`, and who he is."""
        if not self.name:
            return said
        return f"{said}, by {self.who}" if said else self.who


def scopes_text(scopes: Iterable[AccessScope]) -> str:
    """Scopes as they are stored and shown, in the order of the enumeration."""
    held = frozenset(scopes)
    return ",".join(scope.value for scope in AccessScope if scope in held)


def this_account() -> Caller:
    """The account of the operating system that this process runs under; no variable of the environment changes it."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:  # a container may run under a number that no password file knows
        name = str(number)
    return Caller("account", f"{name}@{socket.gethostname()}", "command line")
