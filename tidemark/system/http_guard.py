"""The guard in front of a web server: who may ask, from where, and in what form. Pure ASGI, for any application.

A browser lets every web page send requests to this machine. Each of these rules closes one way of doing so:

    Host                 a name of this server, or 403: no other name may be pointed at it (DNS rebinding)
    Origin, Sec-Fetch-*  the server's own pages, or 403: no other page writes, opens a WebSocket or embeds (CSRF);
                         a link from another page may be followed
    Content-Type         JSON where there is a body, or 415: a form cannot send that
    Content-Length       given, or 411: a body in chunks can be two requests to two servers (smuggling), and a million
                         chunks of a byte take the server's time; and not greater than `most_bytes`, or 413; few bytes
                         of bodies at a time, of all callers and of one, or 503: half-sent ones fill the memory
    path                 without control characters, or 400
    address              never holds a query that is executed where `post_only` says so, or 405
    who calls            what `admit` says of the request: a caller, whom the application finds in the scope, or a
                         refusal; a caller with a token may ask from any page

Sources: Fetch Metadata Request Headers (W3C), RFC 6454 (Origin), RFC 6750 (Bearer), RFC 9112 6.1 (smuggling), OWASP's
CSRF cheat sheet.
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from tidemark.strict_json import json_text
from tidemark.system.caller import Caller

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
    Admission = Callable[[Scope], Awaitable[Caller | "Refusal"]]
    """Who calls, or why nobody who may."""

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared, not bound
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_PAGES: Final = frozenset({"same-origin", "none"})
_POLICY_VIOLATION: Final = 1008
_HOST: Final = re.compile(r"(?P<name>\[[^\[\]]*\]|[^:@\[\]]*)(:[0-9]{0,5})?")
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of a body. A backfill names its partitions: a hundred thousand are some 1.5 MB."""
MOST_BYTES_AT_A_TIME: Final = 64 * 1024 * 1024
"""Of the bodies that come in, or are answered, at a time; of one caller half as much."""
CALLER: Final = "tidemark.caller"
"""Where the application finds the caller in a request's scope."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str
    expected: str
    found: str | None = None

    def body(self) -> bytes:
        """The form that all errors over HTTP have."""
        words = {"message": self.message, "expected": self.expected, "found": self.found, "where": None, "hint": None}
        return json_text({"error": words}).encode()


def host_names(bound: str, extra: Iterable[str] = ()) -> frozenset[str]:
    """The names that a server bound to this address answers to: loopback, its own, and those that a setting adds."""
    own = {socket.gethostname(), socket.getfqdn()} if bound in _ANY_ADDRESS else {bound}
    return LOOPBACK_NAMES | {_canonical(name) for name in {*own, *extra} if name}


async def anybody(scope: Scope) -> Caller | Refusal:
    """Admit every request: the caller has no name, and may do everything."""
    return Caller("anonymous", "", client_address(scope))


class HttpGuard:
    """An ASGI application around another one; `allowed_hosts` are names without a port (see `host_names`).

    `admit` says who calls. A `query` parameter in the address is refused on the paths in `post_only`.
    """

    def __init__(
        self,
        app: AsgiApp,
        allowed_hosts: Collection[str],
        admit: Admission = anybody,
        *,
        post_only: Collection[str] = (),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._app, self._hosts = app, frozenset(map(_canonical, allowed_hosts))
        self._admit, self._post_only = admit, frozenset(post_only)
        self._most_bytes, self._bodies = most_bytes, BodyQuota()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = await self.refusal(scope)
        if refusal is None:
            await self._let_in(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.message})
        else:
            await send_refusal(refusal, send)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = announced_bytes(scope) if scope["type"] == "http" else 0
        caller = caller_of(scope).limited_by
        if not self._bodies.take(caller, size):
            expected = f"at most {MOST_BYTES_AT_A_TIME} bytes of bodies at a time, of one caller half as much"
            await send_refusal(Refusal(503, "too many bytes of bodies at a time", expected), send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._bodies.give_back(caller, size)

    async def refusal(self, scope: Scope) -> Refusal | None:
        """Why this request is refused; None for one that is let in, whose scope names the caller then."""
        headers = _Headers(scope)
        return (
            _wrong_path(scope)
            or self._wrong_host(scope, headers)
            or await self._wrong_caller(scope, headers)
            or self._query_in_address(scope)
            or self._wrong_length(headers)
            or _wrong_content(scope, headers)
        )

    def _wrong_host(self, scope: Scope, headers: _Headers) -> Refusal | None:
        given = headers.all("host")
        name = _canonical(_without_port(given[0])) if len(given) == 1 else ""
        # An address cannot be pointed elsewhere, so the one that the connection came to is always right.
        if name and (name in self._hosts or name == _canonical((scope.get("server") or ("",))[0] or "")):
            return None
        return Refusal(403, "this server has another name", "a Host header that names it", ", ".join(given)[:200])

    async def _wrong_caller(self, scope: Scope, headers: _Headers) -> Refusal | None:
        """Not one of the server's own pages, or nobody who may do this."""
        caller = await self._admit(scope)
        has_token = isinstance(caller, Caller) and caller.kind == "token"
        if not has_token and not is_same_origin(scope):
            return Refusal(
                403, "a page of another origin asks", "the server's own pages, or no browser", headers.origin
            )
        if isinstance(caller, Refusal):
            return caller
        scope[CALLER] = caller
        return None

    def _query_in_address(self, scope: Scope) -> Refusal | None:
        if scope["type"] != "http" or scope["path"].rstrip("/") not in self._post_only:
            return None
        if "query" not in parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True):
            return None
        return Refusal(405, "queries are not taken from the address", "POST with JSON", scope["method"])

    def _wrong_length(self, headers: _Headers) -> Refusal | None:
        if headers.all("transfer-encoding"):
            return Refusal(411, "the body says not how long it is", "a Content-Length")
        if headers.announced > self._most_bytes:
            shown = headers.first("content-length")[:20]
            return Refusal(413, "the body is too long", f"at most {self._most_bytes} bytes", shown)
        return None


class BodyQuota:
    """How many bytes of bodies come in at a time: of all callers together, and of each at most half of that."""

    def __init__(self, most: int = MOST_BYTES_AT_A_TIME) -> None:
        self._most, self._taken = most, Counter[str]()

    def take(self, caller: str, size: int) -> bool:
        """Whether there is room for a body of this size."""
        if self._taken.total() + size > self._most or self._taken[caller] + size > self._most // 2:
            return False
        self._taken[caller] += size
        return True

    def give_back(self, caller: str, size: int) -> None:
        """A request was answered, or its caller is gone."""
        self._taken[caller] -= size
        if not self._taken[caller]:
            del self._taken[caller]


class _Headers:
    """The headers of a request, by name in lower case."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        return [value.strip() for key, value in self._pairs if key == name]

    @property
    def names(self) -> set[str]:
        return {key for key, _ in self._pairs}

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    @property
    def announced(self) -> int:
        """How many bytes the body is said to have."""
        given = self.first("content-length")
        return int(given[:20]) if given.isascii() and given.isdigit() else 0

    @property
    def origin(self) -> str | None:
        return self.first("origin")[:200] or None


def announced_bytes(scope: Scope) -> int:
    """How many bytes the body of a request is said to have."""
    return _Headers(scope).announced


def bearer_token(scope: Scope) -> str | None:
    """What the caller names as a token; None for nothing, and for another scheme."""
    scheme, _, given = _Headers(scope).first("authorization").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def header_values(scope: Scope) -> dict[str, list[str]]:
    """The headers of a request: the values by name in lower case."""
    headers = _Headers(scope)
    return {name: headers.all(name) for name in headers.names}


def client_address(scope: Scope) -> str:
    """The address that the connection comes from."""
    return str((scope.get("client") or ("",))[0])


def caller_of(scope: Scope) -> Caller:
    """The caller of a request that the guard has let in."""
    caller: Caller = scope[CALLER]
    return caller


def header_of(scope: Scope, name: str) -> str:
    """The first header of a name (in lower case), as text of Latin-1; empty where there is none."""
    return _Headers(scope).first(name)


def is_same_origin(scope: Scope) -> bool:
    """Whether the request comes from the server's own pages, from no browser, or follows a link."""
    headers = _Headers(scope)
    sites = headers.all("sec-fetch-site")
    is_own_site = all(site in _OWN_PAGES for site in sites)
    is_own_origin = all(_is_origin_of(origin, headers.first("host")) for origin in headers.all("origin"))
    return is_own_origin and (is_own_site or _follows_link(scope, headers))


def _follows_link(scope: Scope, headers: _Headers) -> bool:
    is_read = scope["type"] == "http" and scope["method"] in READS
    return is_read and headers.first("sec-fetch-mode") == "navigate" and headers.first("sec-fetch-dest") == "document"


def _is_origin_of(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _wrong_path(scope: Scope) -> Refusal | None:
    """No file, and no page, has a name with a control character in it: those who look for one end in a traceback."""
    if any(character < " " or character == "\x7f" for character in scope["path"]):
        return Refusal(400, "the path has a control character", "a path of characters that can be printed")
    return None


def _wrong_content(scope: Scope, headers: _Headers) -> Refusal | None:
    if scope["type"] != "http" or scope["method"] in READS:
        return None
    given = headers.all("content-type")
    has_body = headers.first("content-length") not in ("", "0") or bool(headers.all("transfer-encoding"))
    kinds = {value.partition(";")[0].strip().lower() for value in given} or ({""} if has_body else set())
    if kinds <= {"application/json"}:
        return None
    return Refusal(415, "the body is no JSON", "Content-Type: application/json", ", ".join(given)[:200] or "none")


def _without_port(host: str) -> str:
    """The name; empty where anything but a number is behind it."""
    match = _HOST.fullmatch(host)
    return match["name"] if match else ""


def _canonical(name: str) -> str:
    """In lower case, without the root's dot; an IPv6 address in the brackets that a Host header has."""
    name = name.strip().lower().removesuffix(".")
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


_LENGTH_REQUIRED: Final = 411
_EXTRA_HEADERS: Final = {
    401: (b"www-authenticate", b"Bearer"),
    405: (b"allow", b"POST"),
    429: (b"retry-after", b"1"),
    503: (b"retry-after", b"1"),
}


async def send_refusal(refusal: Refusal, send: Send) -> None:
    """Answer with the refusal. The body is not read: the server passes over it, or closes where it comes in chunks."""
    body = refusal.body()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == _LENGTH_REQUIRED:
        headers.append((b"connection", b"close"))
    if refusal.status in _EXTRA_HEADERS:
        headers.append(_EXTRA_HEADERS[refusal.status])
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
