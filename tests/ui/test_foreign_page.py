"""Dagster's web server, asked by a page of another origin in a real browser: nothing is read or written.

Each of these worked before the guard: `wipeAssets` by an image, a forged materialization, a cross-site WebSocket.
"""

from __future__ import annotations

import http.client
import os
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import dagster as dg
import psutil
import pytest

from tests.project import CHECKOUT
from tests.ui.dagster_runs import RunsByGraphql
from tests.ui.foreign_page import FORM, IMAGE, POST, SOCKET, page_server
from tests.ui.quick_location import write_declarations
from tidemark.console.dagster_server.dagster_home import prepare_home
from tidemark.console.dagster_server.server import DagsterServer
from tidemark.console.dagster_server.stop_process_session import session_members
from tidemark.system.free_port import free_port
from tidemark.system.settings import Settings
from tidemark.system.token_variable import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from selenium.webdriver.remote.webdriver import WebDriver

pytestmark = [pytest.mark.components, pytest.mark.timeout(900)]

TOKEN: Final = "0123456789abcdef"
DAY: Final = "2026-03-24"
WIPE: Final = 'mutation { wipeAssets(assetPartitionRanges: [{assetKey: {path: ["feed"]}}]) { __typename } }'
REPORT: Final = "/report_asset_materialization/forged"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterServer]:
    """Dagster with one materialization, `feed` of a day, that an attack could wipe."""
    folder = tmp_path_factory.mktemp("guarded")
    settings, home = Settings.at(folder / "data"), folder / "home"
    write_declarations(settings.data)
    prepare_home(settings, home)
    location = {"module_name": "tests.ui.quick_location", "working_directory": str(CHECKOUT)}
    (folder / "workspace.yaml").write_text(f"load_from: [{{python_module: {location}}}]")
    env = {
        **os.environ,
        "TIDEMARK_DATA": str(settings.data),
        "PYTHONPATH": str(CHECKOUT),
        "TIDEMARK_ROOT": str(CHECKOUT),
    }
    env[TOKEN_VARIABLE] = TOKEN
    running = DagsterServer.start(folder, home, free_port(), folder / "dagster.log", env)
    try:
        assert running.wait_until_ready()
        _materialize(home)
        yield running
        logged = (
            folder / "dagster.log"
        ).read_text()  # Before the stop: a run that it interrupts is logged as a failure.
    finally:
        running.stop()
    assert "Traceback" not in logged


def _materialize(home: Path) -> None:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("feed", partition=DAY))


@pytest.fixture(params=["localhost", "127.0.0.1"], ids=["cross-site", "same-site"])
def foreign(request: pytest.FixtureRequest, browser: WebDriver) -> Iterator[WebDriver]:
    """The browser on a page of another origin."""
    with page_server() as port:
        browser.set_script_timeout(60)
        browser.get(f"http://{request.param}:{port}/")
        yield browser
        browser.get("about:blank")


def _is_untouched(server: DagsterServer) -> bool:
    runs = RunsByGraphql(server.port)
    return bool(runs.materialized_at("feed", [DAY])) and not runs.materialized_at("forged", [DAY])


def test_a_foreign_page_changes_nothing(server: DagsterServer, foreign: WebDriver) -> None:
    graphql = f"{server.url}/graphql"
    body = f'{{"query": "{WIPE.replace(chr(34), chr(92) + chr(34))}"}}'
    asked = [
        foreign.execute_async_script(IMAGE, f"{graphql}?query={quote(WIPE)}"),
        foreign.execute_async_script(POST, f"{graphql}?query={quote(WIPE)}", "text/plain", ""),
        foreign.execute_async_script(POST, graphql, "text/plain", body),
        foreign.execute_async_script(POST, f"{server.url}{REPORT}?partition={DAY}", "text/plain", ""),
        foreign.execute_async_script(FORM, f"{graphql}?query={quote(WIPE)}", body),
    ]
    assert asked == ["answered"] * 5
    assert _is_untouched(server)


def test_a_foreign_page_opens_no_websocket(server: DagsterServer, foreign: WebDriver) -> None:
    url = f"{server.url.replace('http', 'ws', 1)}/graphql"
    assert foreign.execute_async_script(SOCKET, url) == "refused"


def test_dagsters_own_page_opens_its_websocket(server: DagsterServer, browser: WebDriver) -> None:
    browser.set_script_timeout(60)
    browser.get(f"{server.url}/asset-groups")
    url = f"{server.url.replace('http', 'ws', 1)}/graphql"
    assert browser.execute_async_script(SOCKET, url) == "opened"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Host": "rebound.example"}, 403),
        ("GET", f"/graphql?query={quote(WIPE)}", {}, 405),
        ("POST", "/graphql", {"Content-Type": "text/plain"}, 415),
        ("POST", "/graphql", {"Content-Type": "application/json", "Origin": "http://foreign.example"}, 403),
        ("POST", f"{REPORT}?partition={DAY}", {}, 401),
        ("POST", f"{REPORT}?partition={DAY}", {"Authorization": "Bearer another"}, 401),
        ("GET", "/server_info", {}, 200),
    ],
)
def test_other_callers(server: DagsterServer, method: str, path: str, headers: Mapping[str, str], status: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        body = '{"query": "{version}"}' if method == "POST" and "Content-Type" in headers else None
        connection.request(method, path, body, dict(headers))
        assert connection.getresponse().status == status
    finally:
        connection.close()
    assert _is_untouched(server)


def test_who_has_the_token_reports_and_only_the_web_server_has_it(server: DagsterServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        connection.request("POST", f"/report_asset_materialization/told?partition={DAY}", None, headers)
        assert connection.getresponse().status == 200
    finally:
        connection.close()
    with_token = [pid for pid in session_members(server.process.pid) if TOKEN in psutil.Process(pid).environ().values()]
    programs = {psutil.Process(pid).cmdline()[2].rpartition(".")[2] for pid in with_token}
    assert programs == {"web_server_and_daemon", "web_server"}
