"""Streams made for tests, published to a real topic as Debezium would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import Producer

if TYPE_CHECKING:
    from tests.capture.streams import Stream
    from tidemark.console.servers.kafka import Kafka


def publish(kafka: Kafka, stream: Stream, start: int = 0, end: int | None = None) -> None:
    """Send the records `[start, end)`, in order."""
    records = [json.loads(line) for line in stream.lines[start:end]]
    send(
        kafka,
        f"cdc.{stream.instance}",
        [None if record["value"] is None else _text(record["value"]) for record in records],
    )


def send(kafka: Kafka, topic: str, values: list[str | None]) -> None:
    """Send values as they are; None is a tombstone."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "linger.ms": 5, "log_level": 3})
    for value in values:
        producer.produce(topic, value=value, key='{"id":1}', partition=0)
    assert producer.flush(30) == 0


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
