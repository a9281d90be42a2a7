"""A member that is stopped while its broker is silent ends in time, and no message is lost or duplicated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from threading import Event
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.capture.distribution.reading import committed_messages, numbers
from tests.capture.distribution.stream import PARTITIONS, SHARDS, Numbered, instances, tables
from tests.capture.distribution.stuck_member import IN_TRANSACTION
from tests.capture.source.kafka.topics import send
from tests.until import GUARD_SECONDS
from tidemark.capture.distribution.routes import logical_topic
from tidemark.capture.distribution.service import Distribution, distribute
from tidemark.capture.distribution.session import close_within
from tidemark.console.exit_codes import ExitCode
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

DATABASE = "stuck"
COUNT = 300


@pytest.mark.components
@pytest.mark.long
def test_sigterm_in_a_transaction_of_a_silent_broker(kafka_server: Kafka, tmp_path: Path) -> None:
    streams = [Numbered(instance, DATABASE) for instance in instances(DATABASE)]
    for stream in streams:
        kafka_server.create_topic(f"cdc.{stream.instance}")
        send(kafka_server, f"cdc.{stream.instance}", [stream.next(SHARDS[n % len(SHARDS)]) for n in range(COUNT)])

    code, said = _ended(kafka_server, tmp_path)
    assert code == ExitCode.TRY_AGAIN, said
    assert "the broker did not answer within 8 s" in said
    assert "Traceback" not in said

    folder = tmp_path / "capture" / "distribution"
    what = Distribution(kafka_server.bootstrap_servers, tables(DATABASE), Database.at(folder), PARTITIONS)
    done = distribute(what, lambda done: done.messages < COUNT * len(streams))
    assert done.messages == COUNT * len(streams)
    topics = [logical_topic(table) for table in what.tables]
    sent = [numbers(committed_messages(what.servers, topic, PARTITIONS)) for topic in topics]
    assert {key: ids for of in sent for (_, key), ids in of.items()} == {
        key: ids for stream in streams for key, ids in stream.expected().items()
    }


def _ended(broker: Kafka, folder: Path) -> tuple[int, str]:
    """The exit code, and what was said."""
    environment = {**os.environ, "TIDEMARK_KAFKA": broker.bootstrap_servers, "TIDEMARK_DATA": str(folder)}
    command = [sys.executable, "-m", "tests.capture.distribution.stuck_member", DATABASE, "capture", "distribute"]
    command += ["--json", "--partitions", str(PARTITIONS)]
    server, pipe = psutil.Process(broker.server.pid), subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as member:
        assert member.stdin is not None
        assert member.stderr is not None
        assert member.stderr.readline() == IN_TRANSACTION + "\n"
        server.suspend()
        try:
            member.stdin.write("\n")
            member.stdin.flush()
            # It asks the broker now; what it was before that is another case, and ends as well.
            time.sleep(0.5)
            member.send_signal(signal.SIGTERM)
            said = member.stderr.read()
            return member.wait(), said
        finally:
            server.resume()
            member.kill()


def test_a_client_that_cannot_be_closed_delays_nothing() -> None:
    never = Event()
    assert not close_within(0.05, never.wait)
    assert close_within(GUARD_SECONDS, lambda: None)
    never.set()
