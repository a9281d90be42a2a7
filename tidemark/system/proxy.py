"""The setting `proxy`: a reverse proxy that logs users in and names them in a header.

A header alone proves nothing, because any client can send it. It counts if the connection comes from one of the
`addresses`, and the header is there exactly once. `scopes` has rights for a user's name, `group:NAME` or `everyone`.

    proxy: {addresses: [10.0.0.5], user: X-Forwarded-User, groups: X-Forwarded-Groups,
            scopes: {everyone: [read], 'group:data-ops': [operate], ann@school.example: [admin]}}
"""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator

from tidemark.system.caller import AccessScope, Caller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_EVERYONE: Final = "everyone"
_GROUP: Final = "group:"
_MOST: Final = 1_000
_MOST_CHARACTERS: Final = 256
_EXAMPLE: Final = "{addresses: [10.0.0.5], user: X-Forwarded-User, scopes: {everyone: [read], ann: [operate]}}"
_FORWARDED_FOR: Final = "x-forwarded-for"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy's networks, its headers, and the rights of the users and groups."""

    networks: tuple[Network, ...]
    user: str
    groups: str
    scopes: tuple[tuple[str, frozenset[AccessScope]], ...]

    def is_at(self, address: str) -> bool:
        """Whether a connection from this address is the proxy's."""
        try:
            peer = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = peer.ipv4_mapped if isinstance(peer, ipaddress.IPv6Address) else None
        return any((mapped or peer) in network for network in self.networks)

    def caller(self, address: str, headers: Mapping[str, Sequence[str]]) -> Caller | None:
        """The user in a request of the proxy; None if it names none or several. `headers` are by lower-case name."""
        if not self.is_at(address):
            return None
        users, groups = headers.get(self.user, ()), headers.get(self.groups, ())
        if len(users) != 1 or len(groups) > 1 or not _is_name(users[0]):
            return None
        of_groups = (f"{_GROUP}{group.strip()}" for text in groups for group in text.split(","))
        # A person may choose the own name: it is neither a group nor everyone.
        own = () if users[0].startswith(_GROUP) else (users[0],)
        held = {*own, _EVERYONE, *of_groups}
        scopes = frozenset(scope for name, scopes in self.scopes if name in held for scope in scopes)
        return Caller("proxy", users[0], _source(address, headers), scopes)


def _source(address: str, headers: Mapping[str, Sequence[str]]) -> str:
    """The address that the proxy saw, and the proxy's.

    The proxy adds the first one after addresses that a client claims.
    """
    last = ",".join(headers.get(_FORWARDED_FOR, ())).rpartition(",")[2].strip()
    return f"{last} via {address}" if _is_name(last) else address


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _MOST_CHARACTERS and text.isprintable()


def _proxy(given: object) -> object:
    if isinstance(given, str):
        given = json.loads(given) if given.strip() else None
    if given is None or isinstance(given, Proxy):
        return given
    if not isinstance(given, dict) or not {"addresses", "user", "scopes"} <= given.keys():
        raise ValueError(f"expected addresses, user and scopes, such as {_EXAMPLE}")
    unknown = sorted(map(str, given.keys() - {"addresses", "user", "groups", "scopes"}))
    if unknown:
        raise ValueError(f"unknown {', '.join(unknown)}; it may have addresses, user, groups and scopes")
    headers = [given["user"], given.get("groups", "")]
    if not all(isinstance(name, str) for name in headers) or not _HEADER.fullmatch(headers[0]):
        raise ValueError("user and groups are names of headers, such as X-Forwarded-User")
    user, groups = (name.lower() for name in headers)
    return Proxy(_networks(given["addresses"]), user, groups, _scopes(given["scopes"]))


def _networks(given: object) -> tuple[Network, ...]:
    if not isinstance(given, list) or not 0 < len(given) <= _MOST:
        raise ValueError("addresses is a list of addresses or networks, such as [10.0.0.5, 10.1.0.0/24]")
    return tuple(ipaddress.ip_network(str(address)) for address in given)


def _scopes(given: Any) -> tuple[tuple[str, frozenset[AccessScope]], ...]:
    if not isinstance(given, dict) or len(given) > _MOST:
        raise ValueError("scopes maps callers to scopes: {everyone: [read], 'group:data-ops': [operate], ann: [admin]}")
    return tuple((str(name), _scopes_of(words)) for name, words in given.items())


def _scopes_of(words: object) -> frozenset[AccessScope]:
    known = {scope.value: scope for scope in AccessScope}
    if not isinstance(words, list) or not all(isinstance(word, str) and word in known for word in words):
        raise ValueError(f"scopes are lists of {', '.join(known)}")
    return frozenset(known[word] for word in words)


ProxyField = Annotated[Proxy | None, BeforeValidator(_proxy)]
