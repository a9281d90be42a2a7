"""The guard in front of a web server: checks the caller, the origin and the form of each request (pure ASGI).

Any web page can make a browser send requests to this machine. Each of these rules closes one way:

    Host                 must be a name of this server, else 403: no other name may point to it (DNS rebinding)
    Origin, Sec-Fetch-*  must be the server's own pages, else 403: no other page may write, open a WebSocket or embed
                         (CSRF); links from other pages work
    Content-Type         must be JSON if there is a body, else 415: a form cannot send JSON
    Content-Length       is required, else 411: two servers may split a chunked body into two requests (smuggling), and
                         a million chunks of one byte take the server's time; more than `most_bytes` is 413; the bodies
                         at a time are limited, in all and for each caller, else 503: half-sent bodies fill the memory
    path                 must not have control characters, else 400
    address              must not have a query to execute on the paths in `post_only`, else 405
    caller               is what `admit` returns: a caller, which the application finds in the scope, or a refusal; a
                         caller with a token may send requests from any page

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
    """The caller of a request, or the reason for its refusal."""

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared, not bound
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_PAGES: Final = frozenset({"same-origin", "none"})
_POLICY_VIOLATION: Final = 1008
_HOST: Final = re.compile(r"(?P<name>\[[^\[\]]*\]|[^:@\[\]]*)(:[0-9]{0,5})?")
MOST_BYTES: Final = 8 * 1024 * 1024
"""The most bytes of a body. A backfill names its partitions: 100,000 of them are about 1.5 MB."""
MOST_BYTES_AT_A_TIME: Final = 64 * 1024 * 1024
"""The most bytes of bodies that are received or processed at a time; for one caller half of it."""
CALLER: Final = "tidemark.caller"
"""The key of the caller in a request's scope."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a request is refused."""

    status: int
    message: str
    expected: str
    found: str | None = None

    def body(self) -> bytes:
        """The body of the answer, in the form of all HTTP errors."""
        words = {"message": self.message, "expected": self.expected, "found": self.found}
        return json_text({"error": {**words, "where": None, "hint": None, "code": None}}).encode()


def host_names(bound: str, extra: Iterable[str] = ()) -> frozenset[str]:
    """The names of a server that is bound to this address: loopback, its own, and those of a setting."""
    own = {socket.gethostname(), socket.getfqdn()} if bound in _ANY_ADDRESS else {bound}
    return LOOPBACK_NAMES | {_canonical(name) for name in {*own, *extra} if name}


async def anybody(scope: Scope) -> Caller | Refusal:
    """Admit every request: the caller has no name and all rights."""
    return Caller("anonymous", "", client_address(scope))


class HttpGuard:
    """An ASGI application around another one; `allowed_hosts` are names without ports (see `host_names`).

    `admit` authenticates the caller. Paths in `post_only` refuse a `query` parameter in the address.
    """

    def __init__(
        self,
        app: AsgiApp,
        allowed_hosts: Collection[str],
        admit: Admission = anybody,
        *,
        post_only: Collection[str] = (),
        most_bytes: int = MOST_BYTES,
        bodies: BodyQuota | None = None,
    ) -> None:
        self._app, self._hosts = app, frozenset(map(_canonical, allowed_hosts))
        self._admit, self._post_only = admit, frozenset(post_only)
        self._most_bytes, self._bodies = most_bytes, bodies or BodyQuota()

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
            expected = f"at most {MOST_BYTES_AT_A_TIME} bytes of bodies at a time, and half as much for one caller"
            await send_refusal(Refusal(503, "too many bytes of bodies at a time", expected), send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._bodies.give_back(caller, size)

    async def refusal(self, scope: Scope) -> Refusal | None:
        """Why this request is refused. None for an accepted request, whose scope then has the caller."""
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
        # An address cannot be redirected by DNS, so the address of the connection is always right.
        if name and (name in self._hosts or name == _canonical((scope.get("server") or ("",))[0] or "")):
            return None
        return Refusal(
            403, "this server does not have this name", "a Host header that names it", ", ".join(given)[:200]
        )

    async def _wrong_caller(self, scope: Scope, headers: _Headers) -> Refusal | None:
        """The refusal of a foreign page, or of a caller without the right."""
        caller = await self._admit(scope)
        has_token = isinstance(caller, Caller) and caller.kind == "token"
        if not has_token and not is_same_origin(scope):
            return Refusal(
                403,
                "the request comes from a page of another origin",
                "the server's own pages, or a client that is not a browser",
                headers.origin,
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
        return Refusal(405, "queries in the address are not allowed", "POST with JSON", scope["method"])

    def _wrong_length(self, headers: _Headers) -> Refusal | None:
        if headers.all("transfer-encoding"):
            return Refusal(411, "the length of the body is missing", "a Content-Length")
        if headers.announced > self._most_bytes:
            shown = headers.first("content-length")[:20]
            return Refusal(413, "the body is too long", f"at most {self._most_bytes} bytes", shown)
        return None


class BodyQuota:
    """Limits the bytes of bodies at a time: in all, and for each caller half of that. `refused` counts bodies."""

    def __init__(self, most: int = MOST_BYTES_AT_A_TIME) -> None:
        self._most, self._taken = most, Counter[str]()
        self.refused = 0

    @property
    def taken(self) -> int:
        """The bytes of all bodies now."""
        return self._taken.total()

    def take(self, caller: str, size: int) -> bool:
        """Reserve `size` bytes for a body. Returns whether there was room."""
        if self._taken.total() + size > self._most or self._taken[caller] + size > self._most // 2:
            self.refused += 1
            return False
        self._taken[caller] += size
        return True

    def give_back(self, caller: str, size: int) -> None:
        """Release the bytes of an answered request, or of a caller that left."""
        self._taken[caller] -= size
        if not self._taken[caller]:
            del self._taken[caller]


class _Headers:
    """The headers of a request, by lower-case name."""

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
        """The body's length by the Content-Length header; 0 without one."""
        given = self.first("content-length")
        return int(given[:20]) if given.isascii() and given.isdigit() else 0

    @property
    def origin(self) -> str | None:
        return self.first("origin")[:200] or None


def announced_bytes(scope: Scope) -> int:
    """The length of a request's body by its Content-Length header; 0 without one."""
    return _Headers(scope).announced


def bearer_token(scope: Scope) -> str | None:
    """The bearer token of a request; None if it has none, or another scheme."""
    scheme, _, given = _Headers(scope).first("authorization").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def header_values(scope: Scope) -> dict[str, list[str]]:
    """The header values of a request, by lower-case name."""
    headers = _Headers(scope)
    return {name: headers.all(name) for name in headers.names}


def client_address(scope: Scope) -> str:
    """The address that the connection comes from."""
    return str((scope.get("client") or ("",))[0])


def caller_of(scope: Scope) -> Caller:
    """The caller of a request that the guard has accepted."""
    caller: Caller = scope[CALLER]
    return caller


def header_of(scope: Scope, name: str) -> str:
    """The first header with a name (in lower case), as Latin-1 text; empty if there is none."""
    return _Headers(scope).first(name)


def is_same_origin(scope: Scope) -> bool:
    """Whether the request comes from the server's own pages, not from a browser, or from a link."""
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
    """Refuse control characters. No file or page has them, and a look-up by such a path would end in a traceback."""
    if any(character < " " or character == "\x7f" for character in scope["path"]):
        return Refusal(400, "the path has a control character", "a path of printable characters")
    return None


def _wrong_content(scope: Scope, headers: _Headers) -> Refusal | None:
    if scope["type"] != "http" or scope["method"] in READS:
        return None
    given = headers.all("content-type")
    has_body = headers.first("content-length") not in ("", "0") or bool(headers.all("transfer-encoding"))
    kinds = {value.partition(";")[0].strip().lower() for value in given} or ({""} if has_body else set())
    if kinds <= {"application/json"}:
        return None
    return Refusal(415, "the body is not JSON", "Content-Type: application/json", ", ".join(given)[:200] or "none")


def _without_port(host: str) -> str:
    """The name without its port; empty if the rest is not a port number."""
    match = _HOST.fullmatch(host)
    return match["name"] if match else ""


def _canonical(name: str) -> str:
    """The name in lower case, without a final dot; an IPv6 address in brackets, as in a Host header."""
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
    """Answer with the refusal. The body is not read: the server skips it, or closes if it comes in chunks."""
    body = refusal.body()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == _LENGTH_REQUIRED:
        headers.append((b"connection", b"close"))
    if refusal.status in _EXTRA_HEADERS:
        headers.append(_EXTRA_HEADERS[refusal.status])
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
