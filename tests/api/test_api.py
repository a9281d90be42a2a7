"""The HTTP interface over a real socket: what is taken, what is refused and why, and that a refusal changes nothing."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.center.test_center import CHAIN, NOW, World
from tests.dependency_model.world import graph
from tidemark.api.server import api_server, served
from tidemark.center.detectors.report import facts_of
from tidemark.center.errors import ApiSettingsError, RequestError
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "0123456789abcdef"
GOOD = {
    "subject": "table=ods&&dt=20240602",
    "event": "observed",
    "event_id": "1",
    "event_time": "2024-06-03T01:00:00+02:00",
    "row_count": 12,
}


class Client:
    def __init__(self, world: World, port: int) -> None:
        self.world, self._port = world, port

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = TOKEN, raw: bytes | None = None
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, raw if raw is not None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text.startswith(b"{") else text.decode()

    def report(self, body: Any) -> tuple[int, Any]:
        return self.ask("POST", "/v1/reports", body)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    world = World(tmp_path, **CHAIN)
    with served(world.center, 0, token=TOKEN) as url:
        yield Client(world, int(url.rpartition(":")[2]))


def test_a_report_releases_what_waited_for_it(client: Client) -> None:
    assert client.report(GOOD) == (200, {"new": 1, "known": 0})
    assert client.report(GOOD) == (200, {"new": 0, "known": 1})
    assert client.world.ready() == ["dwd@2024-06-02"]
    (told, *_) = client.world.store.read.history(Slice("ods", "2024-06-02"))
    assert (told.facts.row_count, told.who, told.event_time.isoformat()) == (12, "api", "2024-06-02T23:00:00+00:00")


def test_many_at_once_and_a_range_of_dates(client: Client) -> None:
    several = [GOOD, {**GOOD, "event_id": "2", "subject": "ods@2024-06-01"}]
    assert client.report(several) == (200, {"new": 2, "known": 0})
    month = {**GOOD, "event_id": "3", "subject": "table=ods&&bizDate=20240501..20240531"}
    assert client.report(month) == (200, {"new": 31, "known": 0})


def test_one_asks_what_a_slice_waits_for(client: Client) -> None:
    status, answer = client.ask("GET", "/v1/slices?subject=dwd@2024-06-02")
    (found,) = answer["slices"]
    assert (status, found["run_state"], found["may_start"], found["waits_for"]) == (
        200,
        "waiting",
        False,
        ["ods@2024-06-02"],
    )
    client.report(GOOD)
    (found,) = client.ask("GET", "/v1/slices?subject=job%3Ddwd%26%26dt%3D20240602")[1]["slices"]
    assert (found["run_state"], found["may_start"], found["clauses"][0]["inputs"][0]["quality"]) == (
        "ready",
        True,
        "passed",
    )


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ([], 400, "1 to 10,000 reports"),
        ({**GOOD, "event": "tainted?"}, 400, "one of requested, released"),
        ({**GOOD, "event": "launched"}, 400, "nothing to report"),
        ({**GOOD, "colour": "red"}, 400, "report 0.colour"),
        ({**GOOD, "event_time": "2024-06-03T01:00:00"}, 400, "report 0.event_time"),
        ({**GOOD, "row_count": -1}, 400, "report 0.row_count"),
        ({**GOOD, "row_count": 1 << 63}, 400, "report 0.row_count"),
        ({**GOOD, "why": "\0"}, 400, "without the character NUL"),
        ({**GOOD, "who": "\ud800"}, 400, "report 0.who"),
        ({**GOOD, "event_time": "0001-01-01T00:00:00+14:00"}, 400, "known from 1970 to 2199"),
        ({**GOOD, "event_time": "9999-12-31T23:59:59-14:00"}, 400, "known from 1970 to 2199"),
        ({**GOOD, "subject": "table=odss&&dt=20240602"}, 404, "odss"),
        ({**GOOD, "subject": "ods@2024-02-30"}, 400, "2024-02-30"),
        ({**GOOD, "subject": "table=ods"}, 400, "a subject without a date"),
        ({**GOOD, "event": "quality_failed"}, 409, "a waiting slice cannot be quality_failed"),
        ([GOOD, {**GOOD, "event_id": "2", "event": "kept", "subject": "dwd@2024-06-02"}], 409, "cannot be kept"),
        ([GOOD, {**GOOD, "event_id": "2", "subject": "x@1"}], 404, "no such entity"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(client: Client, body: Any, status: int, says: str) -> None:
    found, answer = client.report(body)
    assert (found, says in json.dumps(answer)) == (status, True), answer
    assert (client.world.store.read.last(), client.world.ready()) == (0, [])
    assert client.report(GOOD)[0] == 200


def test_what_is_no_request_is_refused(client: Client) -> None:
    assert client.ask("POST", "/v1/reports", raw=b"{")[0] == 400
    assert client.ask("POST", "/v1/reports", raw=b"[" * 100_000)[0] == 400
    assert client.ask("POST", "/v1/reports", raw=b" " * (8 * 1024 * 1024 + 1))[0] == 413
    assert client.ask("GET", "/v1/reports")[0] == 405
    assert client.ask("GET", "/v2")[0] == 404
    assert client.ask("GET", "/v1/slices")[0] == 400
    assert client.world.store.read.last() == 0


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
def test_without_the_token_nothing_is_told_or_taken(client: Client, token: str | None) -> None:
    assert client.ask("POST", "/v1/reports", GOOD, token=token)[0] == 401
    assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02", token=token)[0] == 401
    assert client.world.center.status(Slice("ods", "2024-06-02")).run_state is RunState.WAITING


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "data.example"])  # noqa: S104 - refused
def test_other_addresses_need_a_token(tmp_path: Path, host: str) -> None:
    center = World(tmp_path, **CHAIN).center
    with pytest.raises(ApiSettingsError, match="listens on this machine only"):
        api_server(center, 1, host=host)
    assert api_server(center, 1, host=host, token=TOKEN).config.host == host
    assert api_server(center, 1, host="localhost").config.host == "localhost"
    with pytest.raises(ApiSettingsError, match="too short"):
        api_server(center, 1, token="1234")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.binary(max_size=60), _JSON.map(lambda value: json.dumps(value).encode())))
def test_whatever_comes_is_refused_in_words(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        facts_of(body, graph(**CHAIN))
    assert caught.value.message


def test_what_another_center_wrote_is_told_and_a_report_goes_on_from_there(client: Client) -> None:
    client.report(GOOD)
    other = client.world.opened()
    other.launch([Slice("dwd", "2024-06-02")], "r1", "default")
    (found,) = client.ask("GET", "/v1/slices?subject=dwd@2024-06-02")[1]["slices"]
    assert found["run_state"] == "launched"
    other.report([Fact("x", Slice("dwd", "2024-06-02"), Event.STARTED, NOW, "test", data=Facts(run_id="r1"))])
    assert client.report({**GOOD, "event_id": "2", "subject": "ods@2024-06-01"}) == (200, {"new": 1, "known": 0})
    assert client.world.ready() == ["dwd@2024-06-01"]


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    center = World(tmp_path, **CHAIN).center
    with served(center, 0) as url:
        assert url.startswith("http://127.0.0.1:")
        with pytest.raises(ApiSettingsError, match="cannot listen there"), served(center, int(url.rpartition(":")[2])):
            pass
    with (
        pytest.raises(ApiSettingsError, match="cannot listen there"),
        served(center, 0, host="203.0.113.1", token=TOKEN),
    ):
        pass
