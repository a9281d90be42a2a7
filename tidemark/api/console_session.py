"""Browser sessions: a cookie replaces the token with which a person logged in.

The guard behind this door decides about permissions. A session stores the `Authorization` header that the guard has
accepted, and the guard checks it again for every request. So the end of a token ends its sessions.

    POST   /v1/session   with `Authorization`: begin a session; the cookie is HttpOnly and SameSite=Strict
    GET    /v1/session   whether there is a session, and the word that its writes must have
    DELETE /v1/session   end it

A cookie is only accepted from the server's own pages, not from another port of the same host. Writes must have the
session's word in `X-CSRF-Token`. Source: OWASP's cheat sheets on sessions and CSRF (synchronizer token).
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from fastapi import Request, Response  # noqa: TC002 - FastAPI reads annotations
from pydantic import BaseModel

from tidemark.system.http_guard import READS, Refusal, caller_of, header_of, is_same_origin, send_refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

SESSION: Final = "/v1/session"
COOKIE: Final = "tidemark_session"
CSRF_HEADER: Final = "x-csrf-token"
IDLE_SECONDS: Final = 2 * 3_600.0
LONGEST_SECONDS: Final = 12 * 3_600.0
_MOST: Final = 1_000
_SCOPE_KEY: Final = "tidemark.session"


@dataclass(slots=True)
class ConsoleSession:
    """`authorization` is the header of the session, `csrf` the word that its writes must have;

    seconds are monotonic.
    """

    authorization: bytes
    csrf: str
    begun: float
    seen: float


class Sessions:
    """The sessions of one server, in memory: they end with the server. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[bytes, ConsoleSession] = OrderedDict()

    def begin(self, authorization: bytes) -> tuple[str, ConsoleSession]:
        """A new session and its secret. With more than a thousand sessions the oldest one ends."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        session = ConsoleSession(authorization, secrets.token_urlsafe(32), now, now)
        self._sessions[_key(secret)] = session
        if len(self._sessions) > _MOST:
            self._sessions.popitem(last=False)
        return secret, session

    def find(self, secret: str) -> ConsoleSession | None:
        """The session of a secret; None if it is unknown or expired."""
        session = self._sessions.get(_key(secret))
        if session is None:
            return None
        now = self._clock()
        if now - session.seen > IDLE_SECONDS or now - session.begun > LONGEST_SECONDS:
            self.end(secret)
            return None
        session.seen = now
        return session

    def end(self, secret: str) -> None:
        """Ends a session."""
        self._sessions.pop(_key(secret), None)


class SessionDoor:
    """An ASGI application around a guarded one: requests with a session get the session's header."""

    def __init__(self, app: AsgiApp, sessions: Sessions) -> None:
        self._app, self._sessions = app, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        secret = _secret(scope) if scope["type"] == "http" else ""
        session = self._sessions.find(secret) if secret else None
        if session is None or header_of(scope, "authorization") or not is_same_origin(scope):
            await self._app(scope, receive, send)
        elif scope["method"] not in READS and not _names_word(scope, session):
            await send_refusal(
                Refusal(403, "the request does not have the CSRF token of its session", CSRF_HEADER), send
            )
        else:
            headers = [*scope["headers"], (b"authorization", session.authorization)]
            await self._app({**scope, "headers": headers, _SCOPE_KEY: session}, receive, send)


class SessionModel(BaseModel):
    """`csrf` is the word that writes of the session must have in X-CSRF-Token; null without a session.

    `who` is the caller: a token, a person named by a proxy, or `anonymous` if callers need no name.
    """

    csrf: str | None
    who: str


def add_session(app: FastAPI, sessions: Sessions) -> None:
    """Serves `/v1/session`."""

    @app.post(SESSION)
    async def log_in(request: Request, response: Response) -> SessionModel:
        """Begin a session for the bearer of a token. If no token is needed, there is no session."""
        caller, authorization = caller_of(request.scope), header_of(request.scope, "authorization")
        if caller.kind != "token":
            return SessionModel(csrf=None, who=caller.who)
        secret, session = sessions.begin(authorization.encode("latin-1"))
        _set_cookie(response, secret, int(LONGEST_SECONDS), is_secure=request.url.scheme == "https")
        return SessionModel(csrf=session.csrf, who=caller.who)

    @app.get(SESSION)
    async def session(request: Request) -> SessionModel:
        """Return whether the caller has a session."""
        found: ConsoleSession | None = request.scope.get(_SCOPE_KEY)
        return SessionModel(csrf=found.csrf if found else None, who=caller_of(request.scope).who)

    @app.delete(SESSION)
    async def log_out(request: Request, response: Response) -> SessionModel:
        """End the caller's session."""
        sessions.end(_secret(request.scope))
        _set_cookie(response, "", 0, is_secure=request.url.scheme == "https")
        return SessionModel(csrf=None, who=caller_of(request.scope).who)


def _set_cookie(response: Response, value: str, seconds: int, *, is_secure: bool) -> None:
    response.set_cookie(COOKIE, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=is_secure)


def _names_word(scope: Scope, session: ConsoleSession) -> bool:
    given = header_of(scope, CSRF_HEADER).encode("latin-1")
    return hmac.compare_digest(given, session.csrf.encode())


def _secret(scope: Scope) -> str:
    """The secret in the cookie; empty without a readable cookie."""
    try:
        cookies = SimpleCookie(header_of(scope, "cookie"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _key(secret: str) -> bytes:
    """The key of a session, because secrets are not stored."""
    return sha256(secret.encode()).digest()
