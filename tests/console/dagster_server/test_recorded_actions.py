"""The rights to change something through Dagster's web server, and the audit log, written before each change."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.project import write_project
from tidemark.api.access import KnownTokens
from tidemark.console.dagster_server.recorded_actions import ServedStore
from tidemark.console.dagster_server.web_server import GuardedWebserver
from tidemark.errors import TransientError
from tidemark.state_store.access_tokens import AccessTokens
from tidemark.state_store.audit_log import LONGEST_SUBJECT, AuditLog
from tidemark.state_store.database import Database
from tidemark.system.caller import AccessScope
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping
    from pathlib import Path

TOKEN = "0123456789abcdef"
REPORT = "/report_asset_check/orders"
OWN = {"sec-fetch-site": "same-origin", "origin": "http://localhost:3000"}
LAUNCH = {"query": "mutation L {launchRun(executionParams: {}) {__typename}}"}
ASK = {"query": "{version}"}
PROXY = (
    "proxy: {addresses: [10.0.0.5], user: X-Forwarded-User, groups: X-Groups, "
    "scopes: {everyone: [read], 'group:ops': [operate]}}\n"
)


class World:
    """A web server's guards before an application that answers 200, on the store of a project of its own."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.settings = Settings.load({"TIDEMARK_ROOT": str(write_project(folder, {}, settings))})
        self.database = Database.of(self.settings)
        self.reached = 0
        web = GuardedWebserver(cast("Any", None), "127.0.0.1", TOKEN, ServedStore(self.settings))
        self._app: Any = self._answer
        for middleware in reversed(web.build_middleware()[:3]):
            guard: Any = middleware
            self._app = guard.cls(self._app, *guard.args, **guard.kwargs)

    async def _answer(self, _scope: Any, _receive: Any, send: Any) -> None:
        self.reached += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def ask(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        client: str = "127.0.0.1",
        kind: str = "http",
    ) -> int:
        """The status of a POST; 200 is the application's, and no refusal reaches that."""
        sent: list[MutableMapping[str, Any]] = []
        raw = json.dumps(body).encode()

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": raw, "more_body": False}

        given = {"host": "localhost:3000", "content-type": "application/json", "content-length": str(len(raw))}
        pairs = [(name.encode(), value.encode()) for name, value in {**given, **(headers or {})}.items()]
        scope = {"type": kind, "method": "POST", "path": path, "query_string": b"", "headers": pairs}
        before = self.reached
        asyncio.run(self._app({**scope, "client": (client, 1)}, receive, send))
        code = 200 if self.reached > before else int(sent[0].get("status", 0))
        return code

    def recorded(self) -> list[tuple[str, str, str]]:
        return [(row.entry.who, row.entry.source, row.entry.action) for row in reversed(AuditLog(self.database).rows())]

    def token(self, name: str, scope: AccessScope) -> dict[str, str]:
        """The header of a new token."""
        return {"authorization": f"Bearer {AccessTokens(self.database).create(name, {scope}, 'a test')}"}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """It knows of each token at once."""
    monkeypatch.setattr(KnownTokens, "_is_fresh", lambda _: False)
    opened = World(tmp_path)
    with closing(opened.database):
        yield opened


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer another-token-1"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        (OWN, 401),
        ({"sec-fetch-site": "same-origin"}, 401),
        ({**OWN, "sec-fetch-site": "none"}, 401),
        ({**OWN, "authorization": f"Bearer {TOKEN}"}, 200),
    ],
)
def test_reports_are_for_a_token_whatever_a_header_says_of_the_page(
    world: World, headers: dict[str, str], status: int
) -> None:
    assert world.ask(REPORT, headers) == status
    told = [("token:TIDEMARK_TOKEN", "127.0.0.1", "report_asset_check")]
    assert world.recorded() == (told if status == 200 else [])


def test_a_named_token_reports_with_the_scope_for_it_alone(world: World) -> None:
    assert world.ask(REPORT, world.token("prometheus", AccessScope.METRICS)) == 403
    assert world.ask(REPORT, world.token("reader", AccessScope.READ)) == 403
    assert world.ask(REPORT, world.token("airflow", AccessScope.REPORT)) == 200
    assert world.recorded() == [("token:airflow", "127.0.0.1", "report_asset_check")]


def test_a_mutation_is_recorded_with_its_name_and_a_question_is_not(world: World) -> None:
    assert world.ask("/graphql", OWN, ASK) == 200
    assert world.ask("/graphql", OWN, {"query": "mutation {logTelemetry(a: 1) {__typename}}"}) == 200
    assert world.recorded() == []
    assert world.ask("/graphql", OWN, LAUNCH) == 200
    assert world.recorded() == [("anonymous", "127.0.0.1", "graphql launchRun")]


@pytest.mark.parametrize(
    "query",
    [
        "mutation {x: launchRun {id}}",
        "query Q {version} mutation M {launchRun {id}}",
        "mutation {...F} fragment F on Mutation {launchRun {id}}",
        "mutation {... on Mutation {launchRun {id}}}",
        "mutation {logTelemetry {id} launchRun {id}}",
        "mutation {logTelemetry {id} ...F} fragment F on Mutation {launchRun {id}}",
        "mutation A {logTelemetry {id}} mutation B {launchRun {id}}",
    ],
)
def test_a_mutation_is_recorded_however_it_is_spelled(world: World, query: str) -> None:
    reader = world.token("reader", AccessScope.READ)
    assert world.ask("/graphql", reader, {"query": query}) == 403
    assert world.recorded() == []
    operator = world.token("operator", AccessScope.OPERATE)
    assert world.ask("/graphql", operator, {"query": query, "operationName": "Q"}) == 200
    assert [(who, "launchRun" in action) for who, _, action in world.recorded()] == [("token:operator", True)]


def test_comments_and_spaces_do_not_push_a_mutation_out_of_its_entry(world: World) -> None:
    query = "# nothing\n" * 1_000 + " " * 5_000 + 'mutation {wipeAssets(path: "orders") {id}}'
    assert world.ask("/graphql", OWN, {"query": query}) == 200
    (row,) = AuditLog(world.database).rows()
    assert row.entry.subject == '{"query": "mutation{wipeAssets(path:\\"orders\\"){id}}", "variables": null}'


def test_an_entry_that_is_cut_says_so(world: World) -> None:
    query = "mutation($x: X) {launchRun(x: $x) {id}}"
    assert world.ask("/graphql", OWN, {"query": query, "variables": {"x": "y" * 9_000}}) == 200
    (row,) = AuditLog(world.database).rows()
    assert len(row.entry.subject) == LONGEST_SUBJECT
    assert re.fullmatch(r".*y \.\.\. 9,\d{3} characters, SHA-256 [0-9a-f]{64}", row.entry.subject)


def test_an_action_without_an_audit_entry_is_not_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_log: object, _entry: object) -> None:
        raise TransientError("the store does not answer")

    monkeypatch.setattr(AuditLog, "add", down)
    assert world.ask("/graphql", OWN, LAUNCH) == 503
    assert world.ask(REPORT, {"authorization": f"Bearer {TOKEN}"}) == 503
    assert world.ask("/graphql", OWN, ASK) == 200


def test_a_proxy_names_people_and_who_is_not_named_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, PROXY)
    ann = {
        "x-forwarded-user": "ann@school.example",
        "x-groups": "staff, ops",
        "x-forwarded-for": "1.2.3.4, 203.0.113.7",
    }
    bob = {"x-forwarded-user": "bob@school.example", "x-groups": "staff"}
    assert world.ask("/graphql", ann, LAUNCH, client="10.0.0.5") == 200
    assert world.ask("/graphql", bob, LAUNCH, client="10.0.0.5") == 403
    assert world.ask("/graphql", bob, ASK, client="10.0.0.5") == 200
    assert world.ask("/graphql", ann, LAUNCH, client="10.0.0.6") == 403
    assert world.ask("/graphql", {}, LAUNCH) == 403
    assert world.ask("/graphql", {}, ASK) == 200
    assert world.ask(REPORT, ann, client="10.0.0.5") == 403
    assert world.recorded() == [("proxy:ann@school.example", "203.0.113.7 via 10.0.0.5", "graphql launchRun")]
    world.database.close()
