"""Access over HTTP: every endpoint, every scope, every kind of identity, and the audit log's entries."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.client import GOOD, TOKEN, Client, serving
from tidemark.api.access import Access, KnownTokens
from tidemark.api.app import needed_scope
from tidemark.api.options import ApiOptions
from tidemark.dependency_model.slice import Slice
from tidemark.errors import TransientError
from tidemark.state_store.access_tokens import AccessTokens
from tidemark.system.caller import AccessScope, Caller, CallerKind
from tidemark.system.http_guard import Refusal
from tidemark.system.proxy import Proxy, _proxy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ORDER: Final = {"subject": "table=ods&&dt=20240602", "who": "ann", "why": "the feed repeated itself"}
REQUESTS: Final[dict[tuple[str, str], AccessScope | None]] = {
    ("GET", "/health"): None,
    ("GET", "/metrics"): AccessScope.METRICS,
    ("GET", "/v1/slices?subject=ods@2024-06-02"): AccessScope.READ,
    ("GET", "/v1/impact?subject=ods@2024-06-02"): AccessScope.READ,
    ("GET", "/v1/catalog"): AccessScope.READ,
    ("GET", "/v1/catalog/ods"): AccessScope.READ,
    ("GET", "/v1/baseline"): AccessScope.READ,
    ("GET", "/v1/baseline/ods"): AccessScope.READ,
    ("GET", "/v1/backfills"): AccessScope.READ,
    ("GET", "/v1/backfills/1"): AccessScope.READ,
    ("GET", "/v1/changes"): AccessScope.READ,
    **{(method, "/v1/session"): AccessScope.READ for method in ("GET", "POST", "DELETE")},
    ("GET", "/openapi.json"): AccessScope.READ,
    ("GET", "/docs"): AccessScope.READ,
    ("GET", "/v1/audit-log"): AccessScope.ADMIN,
    ("POST", "/v1/reports"): AccessScope.REPORT,
    ("POST", "/v1/counts"): AccessScope.REPORT,
    ("POST", "/v1/backfills"): AccessScope.OPERATE,
    **{
        ("POST", f"/v1/backfills/1/{action}"): AccessScope.OPERATE
        for action in ("approve", "pause", "resume", "cancel", "decide")
    },
}
NO_STREAM: Final = {"Last-Event-ID": "none"}
"""/v1/changes refuses it, once it has let the caller in: the stream itself goes on for most of a minute."""
MAY: Final = {
    AccessScope.METRICS: {AccessScope.METRICS},
    AccessScope.READ: {AccessScope.METRICS, AccessScope.READ},
    AccessScope.REPORT: {AccessScope.REPORT},
    AccessScope.OPERATE: {AccessScope.METRICS, AccessScope.READ, AccessScope.OPERATE},
    AccessScope.ADMIN: set(AccessScope),
}
"""As docs/access.md says it."""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A center without a token of its environment, that knows of each token at once."""
    monkeypatch.setattr(KnownTokens, "_is_fresh", lambda _: False)
    with serving(tmp_path, ApiOptions(writes_per_second=1e9)) as opened:
        yield opened


def create(client: Client, name: str, *scopes: AccessScope, expires_at: datetime | None = None) -> str:
    return AccessTokens(client.world.store.database).create(name, scopes, "a test", expires_at)


def entries(client: Client, token: str, query: str = "") -> list[dict[str, Any]]:
    status, answer = client.ask("GET", f"/v1/audit-log{query}", token=token)
    assert status == 200
    shown: list[dict[str, Any]] = answer["entries"]
    return shown


def test_every_endpoint_needs_its_scope_and_no_other_one_will_do(client: Client) -> None:
    tokens = {scope: create(client, scope.value, scope) for scope in AccessScope}
    for (method, path), needed in REQUESTS.items():
        for scope, token in tokens.items():
            status, _ = client.ask(method, path, {}, token=token, headers=NO_STREAM)
            assert (status == 403) == (needed is not None and needed not in MAY[scope]), (method, path, scope, status)
        assert (client.ask(method, path, {}, token=None)[0] == 401) == (needed is not None), (method, path)


def test_the_endpoints_are_those_that_the_description_lists(client: Client) -> None:
    """A new endpoint is decided on here, and not by what it happens to get."""
    paths = client.ask("GET", "/openapi.json", token=None)[1]["paths"]
    described = {
        (method.upper(), path.replace("{number}", "1").replace("{entity}", "ods"))
        for path, methods in paths.items()
        for method in methods
    }
    listed = {(method, path.partition("?")[0]) for method, path in REQUESTS}
    assert described == listed - {("GET", "/openapi.json"), ("GET", "/docs")}


@given(st.sampled_from(["PUT", "DELETE", "PATCH", "TRACE", "POST", "get", "X"]), st.text(max_size=30))
def test_an_undeclared_endpoint_needs_more_than_read_access(method: str, path: str) -> None:
    needed = needed_scope({"method": method, "path": f"/{path}"})
    assert needed in (AccessScope.OPERATE, AccessScope.REPORT)


def test_before_the_first_token_no_name_is_needed_and_after_it_one_is(client: Client) -> None:
    assert client.ask("GET", "/v1/catalog", token=None)[0] == 200
    token = create(client, "ann", AccessScope.READ)
    assert client.ask("GET", "/v1/catalog", token=None)[0] == 401
    assert client.ask("GET", "/v1/catalog", token=token)[0] == 200
    AccessTokens(client.world.store.database).revoke("ann")
    assert client.ask("GET", "/v1/catalog", token=token)[0] == 401
    assert client.ask("GET", "/v1/catalog", token=None)[0] == 401, "the last one that is revoked opens nothing"


@pytest.mark.parametrize("change", ["last", "first", "id", "short", "long", "other", "empty"])
def test_no_other_text_is_the_token(client: Client, change: str) -> None:
    token = create(client, "ann", AccessScope.ADMIN)
    other = create(client, "bob", AccessScope.ADMIN)
    forged = {
        "last": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "first": "tn" + token[2:],
        "id": other[:20] + token[20:],
        "short": token[:-1],
        "long": token + "A",
        "other": "tm_0123456789abcdef_" + "A" * 43,
        "empty": token[:20],
    }
    assert client.ask("GET", "/v1/catalog", token=forged[change] or " ")[0] == 401
    assert client.ask("GET", "/v1/catalog", token=token)[0] == 200


def test_the_recorded_actor_is_the_authenticated_caller_and_not_from_the_body(client: Client) -> None:
    admin = create(client, "root", AccessScope.ADMIN)
    operator, reporter = create(client, "dora", AccessScope.OPERATE), create(client, "airflow", AccessScope.REPORT)
    report = {**GOOD, "who": "token:root", "why": "import 4711"}
    assert client.ask("POST", "/v1/reports", report, token=reporter)[0] == 200
    assert client.ask("POST", "/v1/backfills", {**ORDER, "dry_run": True}, token=operator)[0] == 200
    assert client.ask("POST", "/v1/backfills", ORDER, token=operator)[0] == 200
    assert client.ask("POST", "/v1/backfills/1/approve", token=operator)[0] == 200
    assert client.ask("POST", "/v1/backfills/9/approve", token=operator)[0] == 404
    names = ("who", "source", "action", "why")
    told = [tuple(entry[name] for name in names) for entry in reversed(entries(client, admin))]
    assert told == [
        ("token:airflow", "127.0.0.1", "report", "import 4711"),
        ("token:dora", "127.0.0.1", "plan backfill", "the feed repeated itself"),
        ("token:dora", "127.0.0.1", "approve backfill", ""),
    ]
    assert client.ask("GET", "/v1/backfills/1", token=operator)[1]["who"] == "ann, by token:dora"
    (first, *_) = client.world.store.read.history(Slice("ods", "2024-06-02"))
    assert first.who == "token:root, by token:airflow"


def test_the_audit_log_has_pages(client: Client) -> None:
    admin = create(client, "root", AccessScope.ADMIN)
    for number in range(7):
        assert client.ask("POST", "/v1/reports", {**GOOD, "event_id": str(number)}, token=admin)[0] == 200
    pages, before = [], ""
    while page := entries(client, admin, f"?limit=3{before}"):
        pages.append([entry["number"] for entry in page])
        before = f"&before={page[-1]['number']}"
    assert pages == [[7, 6, 5], [4, 3, 2], [1]]
    assert len(entries(client, admin, "?who=token:root")) == 7
    assert entries(client, admin, "?who=token:nobody") == []
    for wrong in ("limit=0", "limit=1001", "before=0", "before=x"):
        assert client.ask("GET", f"/v1/audit-log?{wrong}", token=admin)[0] == 400


def test_an_action_without_an_audit_entry_is_not_done(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_log: object, _entry: object) -> None:
        raise TransientError("the store does not answer")

    with monkeypatch.context() as patched:
        patched.setattr("tidemark.state_store.audit_log.AuditLog.add", down)
        assert client.ask("POST", "/v1/reports", GOOD, token=None)[0] == 503
        assert client.ask("POST", "/v1/backfills", ORDER, token=None)[0] == 503
    assert client.world.store.read.last() == 0
    assert client.ask("GET", "/v1/backfills", token=None)[1] == {"backfills": []}


def test_limits_count_by_identity_not_by_address(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=0.2)) as client:
        other = create(client, "airflow", AccessScope.REPORT)
        assert [client.report(GOOD)[0] for _ in range(3)] == [200, 200, 429]
        assert [client.ask("POST", "/v1/reports", GOOD, token=other)[0] for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("addresses", "is_one"),
    [
        (("127.0.0.1", "127.9.8.7"), True),
        (("127.0.0.1", "::1"), True),
        (("127.0.0.1", "::ffff:127.0.0.2"), True),
        (("2001:db8::1", "2001:db8::ffff:7"), True),
        (("10.0.0.1", "::ffff:10.0.0.1"), True),
        (("2001:db8::1", "2001:db8:0:1::1"), False),
        (("10.0.0.1", "10.0.0.2"), False),
        (("10.0.0.1", "no address"), False),
    ],
)
def test_addresses_that_one_machine_can_choose_share_their_limits(addresses: tuple[str, str], *, is_one: bool) -> None:
    first, other = (Caller("anonymous", "", address).limited_by for address in addresses)
    assert (first == other) is is_one


def test_other_addresses_are_served_once_there_is_a_token() -> None:
    assert ApiOptions(host="192.168.1.7", has_tokens=True).needs_name
    assert ApiOptions(host="192.168.1.7", proxy=PROXY).needs_name


PROXY: Final[Proxy] = _proxy(
    {
        "addresses": ["10.0.0.5", "fd00::/64"],
        "user": "X-User",
        "groups": "X-Groups",
        "scopes": {"everyone": ["read"], "group:ops": ["operate"], "ann": ["admin"]},
    }
)  # type: ignore[assignment]  # a setting is read into it
NOW: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)


def admitted(headers: Mapping[str, str | list[str]], client: str = "10.0.0.5", path: str = "/v1/catalog") -> Any:
    given = [(name, [value] if isinstance(value, str) else value) for name, value in headers.items()]
    pairs = [(name.encode(), value.encode("latin-1")) for name, values in given for value in values]
    asked = {"type": "http", "method": "GET", "path": path, "headers": pairs, "client": (client, 1)}
    return asyncio.run(Access(needed_scope, None, KnownTokens(), PROXY, frozenset()).admit(asked))


@pytest.mark.parametrize("client", ["10.0.0.5", "::ffff:10.0.0.5", "fd00::7"])
def test_a_configured_proxy_names_the_caller(client: str) -> None:
    caller = admitted({"x-user": "ann"}, client, "/v1/audit-log")
    assert (caller.who, caller.source) == ("proxy:ann", client)
    assert admitted({"x-user": "bob", "x-groups": "a,ops "}, client).scopes == {AccessScope.READ, AccessScope.OPERATE}


@pytest.mark.parametrize("name", ["group:ops", "everyone", "group: ops", "ops"])
def test_a_person_with_a_group_s_name_is_not_in_the_group(name: str) -> None:
    assert admitted({"x-user": name}).scopes == {AccessScope.READ}


@pytest.mark.parametrize(
    ("headers", "client", "status"),
    [
        ({"x-user": "ann"}, "10.0.0.6", 401),
        ({"x-user": "ann", "x-forwarded-for": "10.0.0.5"}, "127.0.0.1", 401),
        ({"x-user": "ann"}, "", 401),
        ({"x-user": "ann"}, "no address", 401),
        ({"x-user": ["ann", "bob"]}, "10.0.0.5", 401),
        ({"x-user": ["bob", "ann"], "x-groups": "ops"}, "10.0.0.5", 401),
        ({"x-user": ""}, "10.0.0.5", 401),
        ({"x-user": "x" * 257}, "10.0.0.5", 401),
        ({"x-user": "a\x01"}, "10.0.0.5", 401),
        ({"x-user": "bob", "x-groups": ["ops", "ops"]}, "10.0.0.5", 401),
        ({"x_user": "ann"}, "10.0.0.5", 401),
        ({"x-user": "group:ops"}, "10.0.0.5", 403),
        ({"x-user": "bob", "x-groups": "ann"}, "10.0.0.5", 403),
        ({"x-user": "token:root"}, "10.0.0.5", 403),
    ],
)
def test_an_unverified_header_gives_no_identity(headers: dict[str, str | list[str]], client: str, status: int) -> None:
    refusal = admitted(headers, client, "/v1/audit-log")
    assert isinstance(refusal, Refusal)
    assert refusal.status == status


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"addresses": [], "user": "X", "scopes": {}},
        {"addresses": ["10.0.0.300"], "user": "X", "scopes": {}},
        {"addresses": ["10.0.0.1"], "user": "X Y", "scopes": {}},
        {"addresses": ["10.0.0.1"], "user": "X", "scopes": {"a": ["root"]}},
        {"addresses": ["10.0.0.1"], "user": "X", "scopes": {"a": "read"}},
        {"addresses": ["10.0.0.1"], "user": "X", "scopes": {}, "header": "Y"},
        {"addresses": ["10.0.0.1"], "user": 1, "scopes": {}},
    ],
)
def test_a_proxy_that_cannot_be_so_is_refused(told: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        _proxy(told)


def test_names_of_one_kind_are_never_those_of_another() -> None:
    whos = [Caller(kind, "root", "").who for kind in get_args(CallerKind)]
    assert all(a != b for a, b in itertools.combinations(whos, 2))


def test_tokens_are_as_they_last_were_while_the_store_is_away(client: Client) -> None:
    token = create(client, "ann", AccessScope.READ)
    stored = AccessTokens(client.world.store.database).rows()
    answers = iter([stored])

    def read() -> list[Any]:
        try:
            return next(answers)
        except StopIteration:
            raise TransientError("away") from None

    now = [NOW]
    known = Access(needed_scope, None, KnownTokens(read), None, frozenset(), clock=lambda: now[0])
    asked = {"type": "http", "method": "GET", "path": "/v1/catalog", "client": ("127.0.0.1", 1)}
    headers = [(b"authorization", f"Bearer {token}".encode())]
    for _ in range(3):
        assert isinstance(asyncio.run(known.admit({**asked, "headers": headers})), Caller)
    never = Access(needed_scope, None, KnownTokens(read), None, frozenset())
    refusal = asyncio.run(never.admit({**asked, "headers": headers}))
    assert isinstance(refusal, Refusal)
    assert refusal.status == 503
    assert isinstance(asyncio.run(never.admit({**asked, "path": "/health", "headers": headers})), Caller)


def test_a_token_ends_when_it_expires(client: Client) -> None:
    token = create(client, "ann", AccessScope.READ, expires_at=NOW)
    now = [NOW - timedelta(microseconds=1)]
    rows = AccessTokens(client.world.store.database).rows()
    known = Access(needed_scope, None, KnownTokens(lambda: rows), None, frozenset(), clock=lambda: now[0])
    headers = [(b"authorization", f"bearer {token}".encode())]
    asked = {"type": "http", "method": "GET", "path": "/v1/catalog", "client": ("127.0.0.1", 1), "headers": headers}
    assert isinstance(asyncio.run(known.admit(asked)), Caller)
    now[0] = NOW
    assert isinstance(asyncio.run(known.admit(asked)), Refusal)
