"""`capture distribute`: what it refuses, what it tells meanwhile, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.capture.distribution.stream import instances, message
from tests.capture.source.kafka.topics import send
from tidemark.capture.distribution import prepare_topics
from tidemark.capture.distribution.service import Done
from tidemark.console.commands.capture.distribution_progress import Progress
from tidemark.console.main import main
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka


def test_without_kafka_the_error_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    monkeypatch.delenv("TIDEMARK_KAFKA", raising=False)
    result = CliRunner().invoke(main, ["capture", "distribute"])
    assert result.exit_code == 1
    assert "TIDEMARK_KAFKA" in result.stderr


def test_a_broker_that_does_not_answer_is_a_reason_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    monkeypatch.setenv("TIDEMARK_KAFKA", f"{LOOPBACK}:{free_port()}")
    monkeypatch.setattr(prepare_topics, "_SECONDS", 0.5)
    result = CliRunner().invoke(main, ["capture", "distribute", "--json"])
    assert result.exit_code == 75
    assert json.loads(result.stdout)["error"]["transient"] is True


def test_a_pattern_that_names_no_topics_is_refused_before_the_broker_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    monkeypatch.setenv("TIDEMARK_KAFKA", f"{LOOPBACK}:{free_port()}")
    result = CliRunner().invoke(main, ["capture", "distribute", "--topics", "everything"])
    assert result.exit_code == 1
    assert "correct --topics" in result.stderr


def test_progress_is_printed_every_five_seconds_and_a_loss_at_once() -> None:
    said: list[str] = []
    progress = Progress(said.append, lambda: 3, begun=100.0)
    assert progress.tell(Done(messages=1000, lag=2_000_000, sources=2), 104.0)
    assert said == []
    progress.tell(Done(messages=50_000, lag=2_000_000, sources=2), 105.0)
    progress.tell(Done(messages=50_000, sessions_lost=1, lost_because="no broker"), 106.0)
    progress.tell(Done(messages=50_000, sessions_lost=1, lost_because="no broker"), 107.0)
    progress.tell(Done(messages=60_000, unreadable=4, sessions_lost=1, lag=0, sources=1), 110.0)
    assert said == [
        "10,000 messages/s, lag 2,000,000, instances here 2, members 3",
        "Continues after its last transaction: no broker",
        "2,000 messages/s, lag 0, instances here 1, members 3, unreadable 4",
    ]


def test_members_that_the_broker_does_not_tell_are_a_question_mark() -> None:
    said: list[str] = []
    Progress(said.append, lambda: None, begun=0.0).tell(Done(), 5.0)
    assert said == ["0 messages/s, lag 0, instances here 0, members ?"]


@pytest.mark.components
@pytest.mark.long
def test_the_process_prints_its_progress_and_stops_on_a_signal(kafka_server: Kafka, tmp_path: Path) -> None:
    for instance in instances("told"):
        kafka_server.create_topic(f"cdc.{instance}")
    send(kafka_server, "cdc.told-0", [message("told", "orders_0", number) for number in range(100)])
    environment = {"TIDEMARK_KAFKA": kafka_server.bootstrap_servers, "TIDEMARK_DATA": str(tmp_path)}
    command = [sys.executable, "-m", "tests.capture.distribution.members", "told", "capture", "distribute"]
    with subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert line.endswith("lag 0, instances here 4, members 1\n")
    assert rest == "Stopped: 100 messages sent on, 0 unrouted.\n"
