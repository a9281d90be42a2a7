"""Runs as OpenLineage events: what they say, in order, once, whatever the receiver does, by its client's transports."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from openlineage.client.event_v2 import Job, Run, RunEvent

from tests.lineage_events.world import DAY, RUN, LineageWorld, ReceiverDownError, client_with
from tidemark.dependency_model.status import Event
from tidemark.lineage_events.confirmed_kafka import ConfirmedKafka, UndeliveredEventError, with_confirmation
from tidemark.lineage_events.datasets import Datasets
from tidemark.lineage_events.emitter import LineageEmitter
from tidemark.lineage_events.environment import is_wanted
from tidemark.system.azure_access import AzureAccess
from tidemark.system.gcs_access import GcsAccess
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import HdfsLocation, ObjectLocation, RemoteLocation

if TYPE_CHECKING:
    from pathlib import Path

SALES = f"sales@{DAY}"
IN_AZURE = "lake@company.dfs.core.windows.net"


@pytest.fixture
def world(tmp_path: Path) -> LineageWorld:
    made = LineageWorld(tmp_path)
    assert made.emitter.send_due() == 0, "what was before is nobody's news"
    return made


def test_a_run_event_has_its_inputs_and_outputs(world: LineageWorld) -> None:
    world.launch()
    world.tell(SALES, Event.STARTED)
    world.tell(SALES, Event.COMPLETED, event_id="dagster:7", row_count=3, snapshot_id="5")
    world.tell(SALES, Event.QUALITY_PASSED, "its checks passed, with warnings: row_count: 3 rows", "dagster:7:quality")
    world.emitter.send_due()
    assert world.receiver.told == [("START", "sales"), ("COMPLETE", "sales")]
    start, complete = world.receiver.events
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert complete["run"]["facets"]["parent"]["run"]["runId"] == RUN
    nominal = complete["run"]["facets"]["nominalTime"]
    assert (nominal["nominalStartTime"], nominal["nominalEndTime"]) == (
        "2024-06-01T00:00:00+00:00",
        "2024-06-02T00:00:00+00:00",
    )
    assert complete["job"]["facets"]["sql"]["query"].startswith("SELECT shop")
    (read,) = start["inputs"]
    assert (read["namespace"], read["name"]) == ("tidemark", "clicks")
    assert read["facets"]["tidemark_slices"]["slices"] == [DAY]
    (written,) = complete["outputs"]
    assert (written["namespace"], written["name"]) == ("file", str(world.warehouse.table_path("sales")))
    facets = written["facets"]
    assert facets["version"]["datasetVersion"] == "5"
    assert "version" not in start["outputs"][0]["facets"]
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert [column["name"] for column in facets["schema"]["fields"]] == ["shop", "amount"]
    lineage = facets["columnLineage"]
    assert {name: [of["field"] for of in part["inputFields"]] for name, part in lineage["fields"].items()} == {
        "shop": ["shop"],
        "amount": ["cents"],
    }
    assert {of["field"] for of in lineage["dataset"]} == {"dt", "id", "shop"}
    assert [(rule["name"], rule["success"]) for rule in facets["dataQualityAssertions"]["assertions"]] == [
        ("not_null", True),
        ("row_count", False),
    ]


@pytest.mark.parametrize(
    ("lake", "named"),
    [
        (ObjectLocation("lake", "prefix", S3Access("eu-west-3")), ("s3://lake", "prefix/sales")),
        (ObjectLocation("lake", "prefix", GcsAccess()), ("gs://lake", "prefix/sales")),
        (ObjectLocation(IN_AZURE, "prefix", AzureAccess("company")), (f"abfss://{IN_AZURE}", "prefix/sales")),
        (HdfsLocation("host:8020", "prefix"), ("hdfs://host:8020", "/prefix/sales")),
    ],
)
def test_a_table_elsewhere_is_named_by_its_store(
    lake: RemoteLocation, named: tuple[str, str], world: LineageWorld
) -> None:
    settings = world.warehouse.settings.model_copy(update={"warehouse": lake})
    datasets = Datasets(replace(world.warehouse, settings=settings), lambda _: {})
    written = datasets.output("sales", DAY, None)
    assert (written.namespace, written.name) == named


def test_each_attempt_is_a_run_and_a_failure_says_why(world: LineageWorld) -> None:
    world.launch()
    world.tell(SALES, Event.FAILED, f"run {RUN} ended (failure) without it: not_null: 2 rows", event_id="a")
    world.emitter.send_due()
    world.tell(SALES, Event.RETRIED, event_id="r")
    world.tell(SALES, Event.LAUNCHED, event_id="b")
    world.tell(SALES, Event.COMPLETED, event_id="c")
    world.emitter.send_due()
    assert [kind for kind, _ in world.receiver.told] == ["START", "FAIL", "START", "COMPLETE"]
    runs = [event["run"]["runId"] for event in world.receiver.events]
    assert runs[0] == runs[1] != runs[2] == runs[3]
    failed = world.receiver.events[1]
    assert "not_null: 2 rows" in failed["run"]["facets"]["errorMessage"]["message"]
    assert failed["outputs"][0]["facets"]["dataQualityAssertions"]["assertions"][0]["success"] is False


def test_an_undelivered_event_is_sent_later_unchanged(world: LineageWorld) -> None:
    world.launch()
    world.tell(SALES, Event.COMPLETED)
    world.receiver.is_down = True
    with pytest.raises(ReceiverDownError):
        world.emitter.send_due()
    world.receiver.is_down = False
    assert world.emitter.send_due() == 2
    assert world.emitter.send_due() == 0
    first = list(world.receiver.events)
    # Who dies between sending and noting sends it again: the same run, type and time.
    world.emitter._note(0)
    world.open_emitter().send_due()
    assert world.receiver.events[len(first) :] == first


def test_the_client_s_own_transports(world: LineageWorld, tmp_path: Path) -> None:
    """A file, and a real HTTP server that takes the second attempt."""
    world.launch()
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "events.json"
    http = {"transport": {"type": "http", "url": f"http://127.0.0.1:{server.server_port}"}}
    try:
        for config in (http, {"transport": {"type": "file", "log_file_path": str(file), "append": True}}):
            world.emitter._note(0)
            emitter = LineageEmitter(world.warehouse, world.store, {}, lambda config=config: client_with(config))  # type: ignore[misc]
            assert emitter.send_due() == 1
    finally:
        server.shutdown()
        server.server_close()
    (line,) = file.read_text().splitlines()
    assert json.loads(line) == bodies[0]
    assert bodies[0]["eventType"] == "START"


def test_the_tick_never_waits_and_no_address_is_logged(world: LineageWorld, caplog: pytest.LogCaptureFixture) -> None:
    world.launch()
    world.receiver.is_down = True
    world.emitter.poll()
    assert world.receiver.asked.wait(60)
    world.emitter.close()
    assert [record.getMessage() for record in caplog.records if record.name == "tidemark.openlineage"] == [
        "OpenLineage events wait 4 s: ReceiverDownError"
    ]
    assert "canary" not in caplog.text


class RefusedError(Exception):
    """What `requests` raises of an answer."""

    def __init__(self, status: int) -> None:
        super().__init__("https://me:canary@receiver")
        self.response = SimpleNamespace(status_code=status)


@pytest.mark.parametrize(("status", "sent"), [(422, ["COMPLETE"]), (401, []), (503, [])])
def test_a_refused_event_does_not_hold_others(
    world: LineageWorld, caplog: pytest.LogCaptureFixture, status: int, sent: list[str]
) -> None:
    world.launch()
    world.tell(SALES, Event.COMPLETED)
    take = world.receiver.emit

    def refuse(event: Any) -> None:
        if event.eventType.name == "START":
            raise RefusedError(status)
        take(event)

    world.receiver.emit = refuse  # type: ignore[method-assign]
    for _ in range(4):
        with pytest.raises(RefusedError):
            world.emitter.send_due()
    with suppress(RefusedError):
        world.emitter.send_due()
    assert [kind for kind, _ in world.receiver.told] == sent
    assert ("left out" in caplog.text) == bool(sent)
    assert "canary" not in caplog.text


def test_kafka_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client's own transport would only log it."""
    config = {"bootstrap.servers": "127.0.0.1:1", "log_level": "0"}
    client = with_confirmation(client_with({"transport": {"type": "kafka", "topic": "t", "config": config}}))
    monkeypatch.setattr(ConfirmedKafka, "seconds", 0.2)
    event = RunEvent(eventTime="2024-06-01T00:00:00Z", run=Run(RUN), job=Job("n", "j"), producer="urn:x")
    with pytest.raises(UndeliveredEventError):
        client.emit(event)


@pytest.mark.parametrize(
    ("env", "wanted"),
    [
        ({}, False),
        ({"OPENLINEAGE_URL": "http://x"}, True),
        ({"OPENLINEAGE_CONFIG": "/etc/openlineage.yml"}, True),
        ({"OPENLINEAGE__TRANSPORT__TYPE": "file"}, True),
        ({"OPENLINEAGE_URL": "http://x", "OPENLINEAGE_DISABLED": "True"}, False),
        ({"OPENLINEAGE_NAMESPACE": "shop"}, False),
    ],
)
def test_without_a_transport_no_events_are_sent(env: dict[str, str], *, wanted: bool) -> None:
    assert is_wanted(env) is wanted
