"""The HTTP interface over a real socket: what is taken, what is refused and why, and that a refusal changes nothing."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.client import GOOD, TOKEN, Client, serving
from tests.center.test_center import CHAIN, NOW, CenterWorld
from tests.dependency_model.world import graph
from tests.examples import each
from tidemark.api.errors import ApiSettingsError
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.center.detectors.external_report import facts_of
from tidemark.center.errors import RequestError
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CATALOGS = ("/v1/catalog", "/v1/catalog/{entity}")
BACKFILLS = (
    "/v1/backfills",
    "/v1/backfills/{number}",
    *(f"/v1/backfills/{{number}}/{action}" for action in ("approve", "pause", "resume", "cancel", "decide")),
)
BASELINES = ("/v1/baseline", "/v1/baseline/{entity}")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as opened:
        yield opened


def test_a_report_releases_the_waiting_slice(client: Client) -> None:
    assert client.report(GOOD) == (200, {"new": 1, "known": 0})
    assert client.report(GOOD) == (200, {"new": 0, "known": 1})
    assert client.world.ready() == ["dwd@2024-06-02"]
    (told, *_) = client.world.store.read.history(Slice("ods", "2024-06-02"))
    assert (told.facts.row_count, told.who, told.event_time.isoformat()) == (
        12,
        "token:TIDEMARK_TOKEN",
        "2024-06-02T23:00:00+00:00",
    )


def test_many_at_once_and_a_range_of_dates(client: Client) -> None:
    several = [GOOD, {**GOOD, "event_id": "2", "subject": "ods@2024-06-01"}]
    assert client.report(several) == (200, {"new": 2, "known": 0})
    month = {**GOOD, "event_id": "3", "subject": "table=ods&&bizDate=20240501..20240531"}
    assert client.report(month) == (200, {"new": 31, "known": 0})


def test_a_slice_says_what_it_waits_for(client: Client) -> None:
    waiting = explanation_of(client, "dwd@2024-06-02")
    assert (waiting["status"]["run_state"], waiting["may_start"]) == ("waiting", False)
    assert (waiting["waits_for"], waiting["exists"]) == (["ods@2024-06-02"], True)
    client.report(GOOD)
    ready = explanation_of(client, "job%3Ddwd%26%26dt%3D20240602")
    assert (ready["status"]["run_state"], ready["may_start"]) == ("ready", True)
    (upstream,) = ready["upstream"]
    assert (upstream["entity"], upstream["met"], upstream["missing"]) == ("ods", True, [])
    assert upstream["slices"][0]["status"]["quality"] == "passed"
    assert explanation_of(client, "ods@2024-06-02")["downstream"] == ["dwd@2024-06-02"]


def explanation_of(client: Client, subject: str) -> dict[str, Any]:
    """The only slice of a subject."""
    status, answer = client.ask("GET", f"/v1/slices?subject={subject}")
    assert status == 200
    (slice_,) = answer["slices"]
    return dict(slice_)


def test_the_interface_is_described(client: Client) -> None:
    status, described = client.ask("GET", "/openapi.json")
    assert (status, set(described["paths"])) == (
        200,
        {
            "/v1/reports",
            "/v1/counts",
            "/v1/slices",
            "/v1/impact",
            *BACKFILLS,
            *CATALOGS,
            *BASELINES,
            "/v1/audit-log",
            "/v1/changes",
            "/v1/session",
            "/health",
            "/metrics",
        },
    )
    body = described["paths"]["/v1/reports"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "event_time" in body["oneOf"][0]["properties"]
    assert client.ask("GET", "/docs")[0] == 200
    assert client.ask("GET", "/openapi.json", token=None)[0] == 401


def test_promises_are_asked_of_all_entities_and_of_one(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN, ads='{period: day, depends_on: [dwd], ready_by: "14:40", owner: data}')
    world.tell("ods@2024-06-01", "observed")
    with serve_in_thread(world.center, world.forecast(), ApiOptions(token=TOKEN)) as url:
        client = Client(world, url)
        status, answer = client.ask("GET", "/v1/baseline")
        assert status == 200
        by_slice = {baseline["slice"]: baseline for baseline in answer["baselines"]}
        today = by_slice["ads@2024-06-02"]
        assert (today["owner"], today["ready_by"], today["state"]) == ("data", "2024-06-03T12:40:00Z", "over")
        assert [step["slice"] for step in today["key_path"]][-1] == "ads@2024-06-02"
        assert today["why_late"][0].startswith("ods@2024-06-02 ")
        assert client.ask("GET", "/v1/baseline/ads") == (200, answer)
        assert client.ask("GET", "/v1/baseline/dwd")[1]["baselines"] == []
        assert client.ask("GET", "/v1/baseline/adss")[0] == 404
        assert client.ask("GET", "/v1/baseline", token=None)[0] == 401
        assert client.ask("GET", "/v1/baseline/ads", token="wrong")[0] == 401
        assert client.ask("POST", "/v1/baseline")[0] == 405


def test_the_catalog_is_asked_of_all_entities_and_of_one(client: Client) -> None:
    status, answer = client.ask("GET", "/v1/catalog")
    assert (status, {"ods", "dwd"} <= {entry["entity"] for entry in answer["entities"]}) == (200, True)
    status, answer = client.ask("GET", "/v1/catalog/ods?limit=3")
    assert (status, answer["entity"]["entity"], answer["slices"]) == (200, "ods", [])
    client.report(GOOD)
    client.world.tell("ods@2024-06-02", "quality_failed", "judged", why="row_count: 12 rows, expected 20")
    (slice_,) = client.ask("GET", "/v1/catalog/ods")[1]["slices"]
    assert (slice_["quality"], slice_["issues"]) == ("failed", ["ods@2024-06-02"])
    assert (slice_["rules"], slice_["profile"], slice_["completeness"]) == (
        "row_count: 12 rows, expected 20",
        None,
        None,
    )
    assert client.ask("GET", "/v1/catalog/odss")[0] == 404
    assert client.ask("GET", "/v1/catalog/ods?limit=0")[0] == 400
    assert client.ask("GET", "/v1/catalog", token=None)[0] == 401


def test_the_page_of_it_cannot_ask_this_server_whatever_its_scripts_do(client: Client) -> None:
    """They come from another site: in the sandbox they have neither this origin nor a connection."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
    connection.request("GET", "/docs", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    policy = [directive.strip() for directive in (answer.headers["Content-Security-Policy"] or "").split(";")]
    assert {"sandbox allow-scripts", "default-src 'none'", "connect-src 'none'", "form-action 'none'"} <= set(policy)
    assert '"/v1/reports"' in answer.read().decode()
    connection.close()


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ([], 400, "1 to 1,000 reports"),
        ([GOOD] * 1_001, 400, "1 to 1,000 reports"),
        ([1], 400, "the event is not an object"),
        ({**GOOD, "subject": "table=ods&&dt=19700101..21991231"}, 400, "too many slices"),
        (
            [{**GOOD, "event_id": str(n), "subject": "table=ods&&dt=20240401..20260820"} for n in (1, 2)],
            400,
            "are left",
        ),
        ({**GOOD, "state": "a,b"}, 400, "report 0.state"),
        ({**GOOD, "generation": 1 << 31}, 400, "report 0.generation"),
        ({**GOOD, "parameters": {"a": "x" * 70_000}}, 400, "at most 65536 bytes"),
        ({**GOOD, "parameters": {"a": 1 << 70}}, 400, "64 bits"),
        ({**GOOD, "parameters": {"a": float("nan")}}, 400, "NaN is not a JSON number"),
        ({**GOOD, "watermarks": {"a\0": 1}}, 400, "NUL"),
        ({**GOOD, "event": "tainted?"}, 400, "one of requested, started"),
        ({**GOOD, "event": "launched"}, 400, "nothing to report"),
        ({**GOOD, "colour": "red"}, 400, "report 0.colour"),
        ({**GOOD, "event_time": "2024-06-03T01:00:00"}, 400, "report 0.event_time"),
        ({**GOOD, "row_count": -1}, 400, "report 0.row_count"),
        ({**GOOD, "row_count": 1 << 63}, 400, "64 bits"),
        ({**GOOD, "why": "\0"}, 400, "without the character NUL"),
        ({**GOOD, "who": "\ud800"}, 400, "in Unicode"),
        ({**GOOD, "event_time": "0001-01-01T00:00:00+14:00"}, 400, "known from 1970 to 2199"),
        ({**GOOD, "event_time": "9999-12-31T23:59:59-14:00"}, 400, "known from 1970 to 2199"),
        ({**GOOD, "subject": "table=odss&&dt=20240602"}, 404, "odss"),
        ({**GOOD, "subject": "ods@2024-02-30"}, 400, "2024-02-30"),
        ({**GOOD, "subject": "table=ods"}, 400, "a subject without a date"),
        ({**GOOD, "event": "quality_failed"}, 409, "a waiting slice cannot be quality_failed"),
        ([GOOD, {**GOOD, "event_id": "2", "event": "kept", "subject": "dwd@2024-06-02"}], 409, "cannot be kept"),
        ([GOOD, {**GOOD, "event_id": "2", "subject": "x@1"}], 404, "unknown entity"),
    ],
)
def test_bad_input_is_an_error_and_changes_nothing(client: Client, body: Any, status: int, says: str) -> None:
    code, answer = client.report(body)
    assert (code, says in json.dumps(answer)) == (status, True), answer
    assert (client.world.store.read.last(), client.world.ready()) == (0, [])
    assert client.report(GOOD)[0] == 200


def test_an_invalid_request_is_refused(client: Client) -> None:
    assert client.ask("POST", "/v1/reports", raw=b"{")[0] == 400
    assert client.ask("POST", "/v1/reports", raw=b"[" * 100_000)[0] == 400
    assert client.ask("POST", "/v1/reports", raw=b" " * (8 * 1024 * 1024 + 1))[0] == 413
    assert client.ask("GET", "/v1/reports")[0] == 405
    assert client.ask("GET", "/v2")[0] == 404
    assert client.ask("POST", "/v1/reports/", GOOD)[0] == 404
    assert client.ask("GET", "/v1/slices")[0] == 400
    assert client.ask("GET", "/v1/slices?subject=table%3Dods%26%26dt%3D1970..2199")[0] == 400
    assert client.world.store.read.last() == 0


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
def test_without_the_token_nothing_is_answered_or_accepted(client: Client, token: str | None) -> None:
    assert client.ask("POST", "/v1/reports", GOOD, token=token)[0] == 401
    assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02", token=token)[0] == 401
    assert client.world.center.status(Slice("ods", "2024-06-02")).run_state is RunState.WAITING


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "data.example"])  # noqa: S104 - refused
def test_other_addresses_need_a_token(host: str) -> None:
    with pytest.raises(ApiSettingsError, match="listens only on this machine"):
        ApiOptions(host=host)
    assert host.strip("[]") in ApiOptions(host=host, token=TOKEN).host
    assert ApiOptions(host="localhost").token is None
    with pytest.raises(ApiSettingsError, match="too short"):
        ApiOptions(token="1234")
    with pytest.raises(ApiSettingsError, match="limit of writes is not valid"):
        ApiOptions(writes_per_second=0.0)


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


def test_after_another_centers_write_a_report_is_answered_and_continues_from_it(client: Client) -> None:
    client.report(GOOD)
    other = client.world.open_center()
    other.launch([Slice("dwd", "2024-06-02")], "r1", "default")
    assert explanation_of(client, "dwd@2024-06-02")["status"]["run_state"] == "launched"
    other.report([Fact("x", Slice("dwd", "2024-06-02"), Event.STARTED, NOW, "test", data=Facts(run_id="r1"))])
    assert client.report({**GOOD, "event_id": "2", "subject": "ods@2024-06-01"}) == (200, {"new": 1, "known": 0})
    assert client.world.ready() == ["dwd@2024-06-01"]


def test_a_used_port_is_an_error(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    center, forecast = world.center, world.forecast()
    with serve_in_thread(center, forecast, ApiOptions()) as url:
        assert url.startswith("http://127.0.0.1:")
        taken = ApiOptions(port=int(url.rpartition(":")[2]))
        with (
            pytest.raises(ApiSettingsError, match="cannot listen on this address"),
            serve_in_thread(center, forecast, taken),
        ):
            pass
    elsewhere = ApiOptions(host="203.0.113.1", token=TOKEN)
    with (
        pytest.raises(ApiSettingsError, match="cannot listen on this address"),
        serve_in_thread(center, forecast, elsewhere),
    ):
        pass


FIELDS = (
    *(
        "subject",
        "event",
        "event_id",
        "event_time",
        "who",
        "why",
        "generation",
        "state",
        "changed",
        "run_id",
        "cluster",
    ),
    *("row_count", "minimum", "maximum", "snapshot_id", "batch_id", "parameters", "watermarks", "unknown"),
)


@pytest.mark.slow
@pytest.mark.parametrize("field", each(4, FIELDS))
def test_nested_json_is_refused_or_can_be_read_again(client: Client, field: str) -> None:
    """Depths at which something once broke, in every field; then another center opens the same store."""
    send_nested(client, field, (1, 2, 13, 14, 15, 16, 17, 20, 300, 900, *range(970, 990), 1_500, 2_000))


@pytest.mark.long
@pytest.mark.parametrize("field", FIELDS)
def test_nested_json_of_every_depth_is_refused_or_can_be_read_again(tmp_path: Path, field: str) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=1e9)) as client:
        send_nested(client, field, range(1, 2_001))


def send_nested(client: Client, field: str, depths: Iterable[int]) -> None:
    """Reports with lists and with objects so deep in a field; the next center reads what was taken."""
    for depth in depths:
        for left, right in (('{"a":', "}"), ("[", "]")):
            nested = left * depth + "1" + right * depth
            others = {**GOOD, "event_id": f"{field} {depth} {left[0]}"}
            others.pop(field, None)
            body = f'{json.dumps(others)[:-1]}, "{field}": {nested}}}'
            status, answer = client.ask("POST", "/v1/reports", raw=body.encode())
            assert status in (200, 400), answer
            assert status == 400 or depth <= 16
    again = client.world.open_center()
    again.catch_up()
    assert len(client.world.store.read.after(0)) == client.world.store.read.last()
