"""Topics as they are and as they have to be, on a real broker and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.operations.preflight.broker import broker, topic
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from tidemark.console.servers.kafka import Kafka


@pytest.mark.components
def test_topics_of_a_real_broker(kafka_server: Kafka) -> None:
    kafka_server.create_topic("cdc.whole")
    kafka_server.create_topic("cdc.parted", partitions=3)
    kafka_server.create_topic("cdc.compacted", config={"cleanup.policy": "compact"})
    kafka_server.create_topic("cdc.short", config={"retention.ms": "3600000"})
    finding_of = broker(kafka_server.bootstrap_servers, ["whole", "parted", "compacted", "short", "nowhere"])
    assert [(entry.subject, entry.verdict) for entry in finding_of] == [
        (f"Kafka {kafka_server.bootstrap_servers}", "ok"),
        ("topic cdc.whole", "ok"),
        ("topic cdc.parted", "problem"),
        ("topic cdc.compacted", "problem"),
        ("topic cdc.short", "warning"),
        ("topic cdc.nowhere", "problem"),
    ]
    assert all(bool(entry.to_do) == (entry.verdict != "ok") for entry in finding_of)
    assert finding_of[-1].found == "no such topic"
    assert "kept for 1:00:00" in finding_of[-2].found


def test_a_broker_that_does_not_answer() -> None:
    servers = f"{LOOPBACK}:{free_port()}"
    (finding_of,) = broker(servers, ["a"], seconds=0.5)
    assert (finding_of.subject, finding_of.verdict) == (f"Kafka {servers}", "unreachable")
    assert "TIDEMARK_KAFKA" in finding_of.to_do


@pytest.mark.parametrize(
    ("retention_ms", "verdict"), [("-1", "ok"), ("604800000", "ok"), ("259200000", "ok"), ("259199999", "warning")]
)
def test_messages_should_be_there_after_a_weekend(retention_ms: str, verdict: str) -> None:
    (finding_of,) = topic("cdc.a", 1, {"cleanup.policy": "delete", "retention.ms": retention_ms})
    assert finding_of.verdict == verdict
