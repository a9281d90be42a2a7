"""What hostile callers send. Each kind says which statuses may be answered, where it is not cut off."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.api.test_fuzz import random_body
from tests.console.dagster_server.test_query_limits import LARGE
from tests.end_to_end.attack.servers import FEED, NOISE, TOKEN, TOTALS

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.end_to_end.attack.servers import AttackedProject

_REFUSED: Final = frozenset(range(400, 500))
_TRY_AGAIN: Final = 503
_ANSWERED: Final = _REFUSED | {200, _TRY_AGAIN}
_EVIL: Final = "http://evil.example"
_WIPE: Final = f'mutation {{wipeAssets(assetPartitionRanges: [{{assetKey: {{path: ["{TOTALS}"]}}}}]) {{__typename}}}}'
_JSON: Final = {"Content-Type": "application/json"}
_FOREIGN: Final = (
    {"Origin": _EVIL},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "evil.example"},
)
_FORMS: Final = (
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/graphql",
)
_RAW: Final = (
    *(b"", b"\0" * 10_000, b"GET / HTTP/9.9\r\n\r\n", b"GET /health HTTP/1.1\r\nX: " + b"x" * 70_000),
    b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{",
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
)
_RANGES: Final = (
    "dt=19700101..21991231",
    "dt=2024&&hour=00..23",
    "dt=00010101..99991231",
    "dt=20260101..20991231",
    "dt=20240101..20261231",
)


@dataclass
class Attackers:
    """One thread's; `counts` are answers by kind and status, `wrong` what should not have been answered."""

    target: AttackedProject
    chance: random.Random
    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _sockets: list[socket.socket] = field(default_factory=list)

    def attack(self) -> None:
        """One request or connection, of a kind that chance chooses."""
        kind = self.chance.choice(_KINDS)
        with suppress(OSError, http.client.HTTPException, WebSocketException):
            kind(self)

    def end(self) -> None:
        """Let go of what is held open."""
        for opened in self._sockets:
            opened.close()

    def fuzz_with_token(self) -> None:
        body = random_body(self.chance).replace(b"table=ods", f"table={NOISE}".encode())
        body = body.replace(b"ods@", f"{NOISE}@".encode()).replace(b"dwd", NOISE.encode())
        self._center("fuzz with the token", _ANSWERED, body, {"Authorization": f"Bearer {TOKEN}"})

    def report_without_token(self) -> None:
        event = {"event": "completed", "event_time": "2026-03-23T00:00:00Z", "event_id": "forged"}
        body = json.dumps({"subject": f"{FEED}@2024-06-02", **event}).encode()
        given = self.chance.choice([{}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eDp5"}, *_FOREIGN])
        self._center("report without the token", _REFUSED, body, given)

    def range_with_token(self) -> None:
        subject = f"table={NOISE}&&{self.chance.choice(_RANGES)}"
        event = {"event": "observed", "event_time": "2026-03-23T00:00:00Z", "event_id": str(self.chance.random())}
        body = json.dumps([{"subject": subject, **event}] * self.chance.choice((1, 20))).encode()
        self._center("dates without end", _REFUSED, body, {"Authorization": f"Bearer {TOKEN}"})

    def ask_range(self) -> None:
        path = f"/v1/slices?subject=table%3D{NOISE}%26%26{self.chance.choice(_RANGES).replace('&', '%26')}"
        self._send("asked dates without end", self.target.center.port, _ANSWERED, "GET", path, b"", {})

    def foreign_page(self) -> None:
        body = json.dumps({"query": _WIPE}).encode()
        headers = {**_JSON, **self.chance.choice(_FOREIGN)}
        self._send("foreign page", self.target.dagster.port, _REFUSED, "POST", "/graphql", body, headers)

    def foreign_form(self) -> None:
        headers = {"Content-Type": self.chance.choice(_FORMS)}
        body = json.dumps({"query": _WIPE}).encode()
        self._send("foreign form", self.target.dagster.port, _REFUSED, "POST", "/graphql", body, headers)

    def query_in_address(self) -> None:
        path = "/graphql?query=" + "".join(f"%{byte:02x}" for byte in _WIPE.encode())
        method = self.chance.choice(("GET", "POST", "HEAD", "PUT"))
        self._send("query in the address", self.target.dagster.port, _REFUSED, method, path, b"", {})

    def forged_report(self) -> None:
        kind = self.chance.choice(("materialization", "check", "observation"))
        path = f"/report_asset_{kind}/{TOTALS}"
        self._send(
            "forged report", self.target.dagster.port, _REFUSED, "POST", path, b'{"partition": "2024-06-02"}', _JSON
        )

    def large_query(self) -> None:
        body = json.dumps({"query": self.chance.choice(list(LARGE.values()))}).encode()
        self._send("large query", self.target.dagster.port, _REFUSED, "POST", "/graphql", body, _JSON)

    def no_query(self) -> None:
        body = self.chance.choice([random_body(self.chance), b"[]", b"[" * 50_000, b'{"query": {}}', b'{"query": "{"}'])
        self._send("no query", self.target.dagster.port, _REFUSED, "POST", "/graphql", body, _JSON)

    def raw_bytes(self) -> None:
        """Also bytes that never become a request: the connection is held until somebody closes it."""
        port = self.chance.choice((self.target.center.port, self.target.dagster.port))
        opened = socket.create_connection(("127.0.0.1", port), 30)
        self._sockets.append(opened)
        opened.sendall(self.chance.choice(_RAW))
        while len(self._sockets) > _MOST_HELD:
            self._sockets.pop(0).close()

    def foreign_socket(self) -> None:
        with connect(self._socket_url(), origin=Origin(_EVIL), subprotocols=_PROTOCOL, proxy=None):
            self.wrong.append("a WebSocket of another page was opened")

    def hostile_socket(self) -> None:
        with connect(self._socket_url(), subprotocols=_PROTOCOL, proxy=None) as page:
            query = self.chance.choice(list(LARGE.values()))
            start = json.dumps({"id": "1", "type": "start", "payload": {"query": query}})
            page.send(self.chance.choice((start, "{", "[]", "[" * 50_000, '{"id": [], "type": "start"}')))
            page.recv(30)
            self.wrong.append("a hostile message was answered over a WebSocket")

    def _socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.target.dagster.port}/graphql"

    def _center(self, kind: str, allowed: frozenset[int], body: bytes, headers: dict[str, str]) -> None:
        self._send(kind, self.target.center.port, allowed, "POST", "/v1/reports", body, {**_JSON, **headers})

    def _send(
        self,
        kind: str,
        port: int,
        allowed: frozenset[int],
        method: str,
        path: str,
        body: bytes,
        headers: dict[str, Any],
    ) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status == _TRY_AGAIN:
            kind = f"{kind}: {json.loads(text)['error']['message']}"
        self.counts[kind, answer.status] = self.counts.get((kind, answer.status), 0) + 1
        if answer.status not in allowed:
            self.wrong.append(f"{kind}: {answer.status} to {method} {path[:80]} {headers} {body[:200]!r}")


_MOST_HELD: Final = 150
_PROTOCOL: Final = [Subprotocol("graphql-ws")]
_KINDS: Final[tuple[Callable[[Attackers], None], ...]] = (
    *(Attackers.fuzz_with_token, Attackers.fuzz_with_token, Attackers.report_without_token),
    *(Attackers.range_with_token, Attackers.ask_range, Attackers.foreign_page, Attackers.foreign_form),
    *(Attackers.query_in_address, Attackers.forged_report, Attackers.large_query, Attackers.no_query),
    *(Attackers.raw_bytes, Attackers.foreign_socket, Attackers.hostile_socket),
)
