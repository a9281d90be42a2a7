"""Sessions of the console: begun by a token, taken from the server's own pages only, ended by time and by people."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import TOKEN, serving
from tidemark.api.console_pages import PAGES
from tidemark.api.console_session import COOKIE, IDLE_SECONDS, LONGEST_SECONDS, Sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OWN = {"Sec-Fetch-Site": "same-origin"}


class Browser:
    """Asks as a browser does: with a cookie, and never with a token but at the login."""

    def __init__(self, port: int) -> None:
        self.port, self.cookie, self.csrf = port, "", ""

    def ask(self, method: str, path: str, headers: Mapping[str, str] = OWN) -> tuple[int, Any, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, path, headers={**given, **headers})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(body) if is_json else body.decode(), response.headers

    def log_in(self, token: str = TOKEN) -> str:
        """The whole cookie as the server set it."""
        status, answer, headers = self.ask("POST", "/v1/session", {**OWN, "Authorization": f"Bearer {token}"})
        assert status == 200
        self.cookie, self.csrf = str(headers["Set-Cookie"]).partition(";")[0], answer["csrf"]
        return str(headers["Set-Cookie"])


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with serving(tmp_path) as client:
        yield Browser(client.port)


def test_pages_need_no_login_and_their_data_does(browser: Browser) -> None:
    for page in PAGES:
        status, text, headers = browser.ask("GET", f"/console/{page}")
        assert (status, "<script" in text) == (200, True)
        policy = {
            rule.partition(" ")[0]: rule.partition(" ")[2] for rule in headers["Content-Security-Policy"].split("; ")
        }
        assert (policy["default-src"], policy["script-src"], policy["frame-ancestors"]) == (
            "'none'",
            "'self'",
            "'none'",
        )
    assert browser.ask("GET", "/v1/catalog")[0] == 401
    assert browser.ask("GET", "/v1/changes")[0] == 401
    assert browser.ask("GET", "/console/../v1/catalog")[0] in (401, 404)


def test_a_session_stands_for_its_token(browser: Browser) -> None:
    told = browser.log_in()
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(told.split("; "))
    assert TOKEN not in told
    assert browser.ask("GET", "/v1/catalog")[0] == 200
    assert browser.ask("GET", "/v1/session")[1] == {"csrf": browser.csrf, "who": "token:TIDEMARK_TOKEN"}


@pytest.mark.parametrize("authorization", ["Bearer another", "Bearer", "Basic 0123456789abcdef", ""])
def test_a_wrong_token_begins_no_session(browser: Browser, authorization: str) -> None:
    status, _, headers = browser.ask("POST", "/v1/session", {**OWN, "Authorization": authorization})
    assert (status, headers["Set-Cookie"]) == (401, None)


@pytest.mark.parametrize("cookie", ["", "x", f"{COOKIE}=", f"{COOKIE}=forged", f"{COOKIE}=\x01; a=b", "=;=;,"])
def test_an_invalid_session_gives_no_access(browser: Browser, cookie: str) -> None:
    browser.cookie = cookie
    assert browser.ask("GET", "/v1/catalog")[0] == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://foreign.example"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/catalog"), ("DELETE", "/v1/session")])
def test_a_page_of_another_origin_uses_no_session(
    browser: Browser, headers: dict[str, str], method: str, path: str
) -> None:
    browser.log_in()
    assert browser.ask(method, path, {**headers, "X-CSRF-Token": browser.csrf})[0] == 403
    assert browser.ask("GET", "/v1/catalog")[0] == 200


def test_writes_need_the_csrf_token_of_the_session(browser: Browser) -> None:
    browser.log_in()
    for word in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "another"}):
        assert browser.ask("POST", "/v1/backfills/1/approve", {**OWN, **word})[0] == 403
    assert browser.ask("POST", "/v1/backfills/1/approve", {**OWN, "X-CSRF-Token": browser.csrf})[0] == 404


def test_a_logged_out_session_has_no_access(browser: Browser) -> None:
    browser.log_in()
    status, _, headers = browser.ask("DELETE", "/v1/session", {**OWN, "X-CSRF-Token": browser.csrf})
    assert (status, "Max-Age=0" in headers["Set-Cookie"]) == (200, True)
    assert browser.ask("GET", "/v1/catalog")[0] == 401


def test_sessions_end_by_time_and_each_login_begins_another() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    secret, session = sessions.begin(b"Bearer x")
    assert sessions.begin(b"Bearer x")[0] != secret
    now[0] = IDLE_SECONDS
    assert sessions.find(secret) is session
    now[0] += IDLE_SECONDS + 1
    assert sessions.find(secret) is None
    secret, session = sessions.begin(b"Bearer x")
    begun = now[0]
    while now[0] + IDLE_SECONDS <= begun + LONGEST_SECONDS:
        now[0] += IDLE_SECONDS
        assert sessions.find(secret) is session
    now[0] += 1
    assert sessions.find(secret) is None


def test_at_the_limit_the_oldest_session_ends() -> None:
    sessions = Sessions(lambda: 0.0)
    secrets = [sessions.begin(b"Bearer x")[0] for _ in range(1_001)]
    assert [sessions.find(secret) is not None for secret in (secrets[0], secrets[1], secrets[-1])] == [
        False,
        True,
        True,
    ]
