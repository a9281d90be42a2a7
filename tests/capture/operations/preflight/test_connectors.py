"""What Kafka Connect says of connectors: tasks that failed, and settings that change values."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.capture.operations.preflight.connectors import connectors
from tidemark.strict_json import json_text
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

RIGHT = {
    "topic.prefix": "cdc.a",
    "decimal.handling.mode": "string",
    "enable.time.adjuster": "false",
    "skipped.operations": "none",
}
RUNNING = {"state": "RUNNING"}
TRACE = """org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer.
\tat io.debezium.pipeline.ErrorHandler.setProducerThrowable(ErrorHandler.java:53)
Caused by: io.debezium.DebeziumException: Error processing binlog event
\t... 3 more
Caused by: io.debezium.text.ParsingException: DDL statement couldn't be parsed
\tat io.debezium.antlr.ParsingErrorListener.syntaxError(ParsingErrorListener.java:43)
"""


@contextmanager
def worker(body: bytes) -> Iterator[str]:
    """A Connect worker that answers so; its address."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/connectors?expand=status&expand=info" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def listed(config: dict[str, str], *tasks: dict[str, Any], connector: dict[str, Any] = RUNNING) -> bytes:
    status = {"connector": connector, "tasks": [{"id": number, **task} for number, task in enumerate(tasks)]}
    return json_text({"shop": {"info": {"config": config}, "status": status}}).encode()


def found(body: bytes, instance: str = "a") -> list[tuple[str, str, str]]:
    with worker(body) as address:
        findings = connectors(address, [instance])[1:]
    assert all(bool(finding.to_do) == (finding.verdict != "ok") for finding in findings)
    return [(finding.subject, finding.verdict, finding.found) for finding in findings]


def test_a_connector_that_runs_with_exact_settings_is_right() -> None:
    assert found(listed(RIGHT, RUNNING)) == [("connector shop", "ok", "runs")]
    assert found(listed({**RIGHT, "time.precision.mode": "ADAPTIVE_TIME_MICROSECONDS"}, RUNNING)) == [
        ("connector shop", "ok", "runs")
    ]


def test_a_failed_task_is_reported_with_its_innermost_cause() -> None:
    """The connector itself goes on saying that it runs."""
    cause = "task 0 failed: io.debezium.text.ParsingException: DDL statement couldn't be parsed"
    assert found(listed(RIGHT, {"state": "FAILED", "trace": TRACE})) == [("connector shop", "unreachable", cause)]
    paused = found(listed(RIGHT, {"state": "PAUSED"}, connector={"state": "PAUSED"}))
    assert [(verdict, what) for _, verdict, what in paused] == [
        ("warning", "connector is PAUSED"),
        ("warning", "task 0 is PAUSED"),
    ]
    assert found(listed(RIGHT))[0][2] == "has no task"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decimal.handling.mode", "double"),
        ("decimal.handling.mode", None),
        ("enable.time.adjuster", "true"),
        ("enable.time.adjuster", None),
        ("skipped.operations", "t"),
        ("time.precision.mode", "connect"),
        ("bigint.unsigned.handling.mode", "precise"),
        ("binary.handling.mode", "hex"),
        ("include.schema.changes", "false"),
        ("value.converter.replace.null.with.default", "true"),
    ],
)
def test_a_setting_that_changes_values_is_a_problem(name: str, value: str | None) -> None:
    config = {key: kept for key, kept in {**RIGHT, name: value}.items() if kept is not None}
    ((subject, verdict, what), *others) = found(listed(config, RUNNING))[1:]
    assert (subject, verdict, others) == ("connector shop", "problem", [])
    assert what.startswith(f"{name} is {value or 'not set'}")


def test_an_instance_without_a_connector_is_named() -> None:
    ((subject, verdict, what),) = found(listed(RIGHT, RUNNING), "b")
    assert (subject, verdict, what) == ("connector of b", "warning", "no connector has topic.prefix=cdc.b")


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000, b'{"shop": 3, "other": {"status": 4, "info": []}}', b"7"])
def test_a_server_that_is_something_else_is_said(body: bytes) -> None:
    with worker(body) as address:
        findings = connectors(address, ["a"])
    assert findings[-1].verdict in {"unreachable", "warning"}


@pytest.mark.parametrize("status", [4, "up", [1], {"tasks": 3}, {"tasks": [7], "connector": "RUNNING"}])
def test_a_status_of_another_shape_is_a_warning(status: object) -> None:
    ((subject, verdict, _), *_) = found(json_text({"shop": {"info": {"config": RIGHT}, "status": status}}).encode())
    assert (subject, verdict) == ("connector shop", "warning")


def test_a_worker_that_does_not_answer_or_no_web_address() -> None:
    (down,) = connectors(f"http://{LOOPBACK}:{free_port()}", ["a"])
    assert (down.verdict, "TIDEMARK_CONNECT" in down.to_do) == ("unreachable", True)
    (wrong,) = connectors("file:///etc/passwd", ["a"])
    assert wrong.verdict == "problem"
