"""Reports from a topic: once each, positions with the facts, bad messages passed over in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import CHAIN, World
from tidemark.center.detectors.kafka_source import KafkaSource
from tidemark.center.detectors.topic import Message, TopicDetector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

DAYS = ("2024-06-01", "2024-06-02")


def report(day: str, event: str = "observed") -> bytes:
    when = "2024-06-03T01:00:00Z"
    said = {"subject": f"ods@{day}", "event": event, "event_id": f"{day} {event}", "event_time": when}
    return json.dumps(said).encode()


class ListSource:
    """A topic of two partitions in memory."""

    def __init__(self, *values: bytes) -> None:
        self.messages = [Message(number % 2, number // 2, value) for number, value in enumerate(values)]

    def fetch(self, positions: Mapping[int, int], limit: int) -> Sequence[Message]:
        return [one for one in self.messages if one.offset >= positions.get(one.partition, 0)][:limit]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, **CHAIN)


def test_messages_are_taken_once_also_after_a_restart(world: World) -> None:
    source = ListSource(*map(report, DAYS))
    detector = TopicDetector("facts", source, world.center, world.store.read)
    assert [(taken.messages, taken.new) for taken in (detector.poll(1), detector.poll(1), detector.poll())] == [
        (1, 1),
        (1, 1),
        (0, 0),
    ]
    assert world.ready() == [f"dwd@{day}" for day in DAYS]
    again = TopicDetector("facts", source, world.opened(), world.store.read)
    assert again.poll().messages == 0
    assert world.store.read.cursor("topic:facts") == '{"0": 1, "1": 1}'


def test_bad_messages_are_told_and_passed_over(world: World) -> None:
    source = ListSource(b"{", report(DAYS[0]), report(DAYS[1], "kept"), report("2024-06-31"), report(DAYS[1]))
    taken = TopicDetector("facts", source, world.center, world.store.read).poll()
    assert (taken.messages, taken.new) == (5, 2)
    assert sorted((message.partition, message.offset) for message, _ in taken.refused) == [(0, 0), (0, 1), (1, 1)]
    assert world.ready() == [f"dwd@{day}" for day in DAYS]


@pytest.mark.components
def test_a_real_topic(world: World, kafka_server: Kafka) -> None:
    from confluent_kafka import Producer

    kafka_server.create_topic("facts", partitions=2)
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap_servers})
    for day in DAYS:
        producer.produce("facts", report(day))
    assert producer.flush(30) == 0
    source = KafkaSource("facts", kafka_server.bootstrap_servers)
    detector = TopicDetector("facts", source, world.center, world.store.read)
    taken = [detector.poll() for _ in range(20)]
    source.close()
    assert sum(one.new for one in taken) == 2
    assert world.ready() == [f"dwd@{day}" for day in DAYS]
