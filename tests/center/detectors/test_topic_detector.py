"""Reports from a topic: once each, positions with the facts, bad messages passed over in words."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from tests.center.test_center import CHAIN, CenterWorld
from tests.until import until
from tidemark.center.detectors import topic_detector
from tidemark.center.detectors.topic_detector import TopicDetector, TopicMessage
from tidemark.center.topic_subscription_thread import TopicSubscription, subscription_of
from tidemark.system.errors import SettingsError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidemark.center.fact import Fact, Receipt
    from tidemark.console.servers.kafka import Kafka
    from tidemark.state_store.transition import Transition

DAYS = ("2024-06-01", "2024-06-02")


def report(day: str, event: str = "observed") -> bytes:
    when = "2024-06-03T01:00:00Z"
    said = {"subject": f"ods@{day}", "event": event, "event_id": f"{day} {event}", "event_time": when}
    return json.dumps(said).encode()


class ListSource:
    """A topic of two partitions in memory."""

    def __init__(self, *values: bytes) -> None:
        self.messages = [TopicMessage(number % 2, number // 2, value) for number, value in enumerate(values)]

    def fetch(self, positions: Mapping[int, int], limit: int) -> Sequence[TopicMessage]:
        return [message for message in self.messages if message.offset >= positions.get(message.partition, 0)][:limit]

    def close(self) -> None:
        """Nothing is held."""


class EventRecorder:
    """What a subscription tells, without its values."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __call__(self, event: str, /, **_: Any) -> None:
        self.events.append(event)


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    return CenterWorld(tmp_path, **CHAIN)


def test_messages_are_taken_once_also_after_a_restart(world: CenterWorld) -> None:
    source = ListSource(*map(report, DAYS))
    detector = TopicDetector("facts", source, world.center, world.store.read)
    assert [(taken.messages, taken.new) for taken in (detector.poll(1), detector.poll(1), detector.poll())] == [
        (1, 1),
        (1, 1),
        (0, 0),
    ]
    assert world.ready() == [f"dwd@{day}" for day in DAYS]
    again = TopicDetector("facts", source, world.open_center(), world.store.read)
    assert again.poll().messages == 0
    assert world.store.read.cursor("topic:facts") == '{"0": 1, "1": 1}'


def test_bad_messages_are_told_and_passed_over(world: CenterWorld) -> None:
    source = ListSource(b"{", report(DAYS[0]), report(DAYS[1], "kept"), report("2024-06-31"), report(DAYS[1]))
    taken = TopicDetector("facts", source, world.center, world.store.read).poll()
    assert (taken.messages, taken.new) == (5, 2)
    assert sorted((message.partition, message.offset) for message, _ in taken.refused) == [(0, 0), (0, 1), (1, 1)]
    assert world.ready() == [f"dwd@{day}" for day in DAYS]


def test_a_message_with_an_unexpected_error_is_passed_over(world: CenterWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    write, last = world.store.write.append, report(DAYS[1])

    def append(transitions: Sequence[Transition], **where: Any) -> None:
        if any(transition.slice.key == DAYS[0] for transition in transitions):
            raise RecursionError("too deep")
        write(transitions, **where)

    monkeypatch.setattr(world.store.write, "append", append)
    polled = TopicDetector("facts", ListSource(report(DAYS[0]), last), world.center, world.store.read).poll()
    assert (polled.messages, polled.new) == (2, 1)
    assert [(message.offset, "RecursionError: too deep" in str(error)) for message, error in polled.refused] == [
        (0, True)
    ]
    assert world.store.read.cursor("topic:facts") == '{"0": 1, "1": 1}'


@pytest.mark.components
def test_a_service_takes_in_the_reports_of_its_topic(world: CenterWorld, kafka_server: Kafka) -> None:
    """It begins where the last one was, is silent while another one is active, and outlives a bad message."""
    from confluent_kafka import Producer

    kafka_server.create_topic("facts", partitions=2)
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap_servers})
    settings = Settings.at(world.folder, reports_topic="facts", kafka=kafka_server.bootstrap_servers)
    told = EventRecorder()

    def takes_in(day: str) -> None:
        center = world.open_center()
        with subscription_of(settings, center, world.store.read, lambda: 1, told):
            until(lambda: f"dwd@{day}" in map(str, center.ready()), f"the report of {day}")

    for value in (b"{", report(DAYS[0])):
        producer.produce("facts", value, partition=0)
    assert producer.flush(30) == 0
    takes_in(DAYS[0])
    assert told.events == ["refused"]
    producer.produce("facts", report(DAYS[1]), partition=1)
    assert producer.flush(30) == 0
    with subscription_of(settings, world.open_center(), world.store.read, lambda: None, told):
        assert world.store.read.cursor("topic:facts") == '{"0": 2}'
    takes_in(DAYS[1])
    assert told.events == ["refused"]


def test_a_topic_needs_kafka_and_no_topic_needs_nothing(world: CenterWorld) -> None:
    def opened(settings: Settings) -> object:
        return subscription_of(settings, world.center, world.store.read, lambda: 1, EventRecorder())

    with pytest.raises(SettingsError, match="TIDEMARK_KAFKA"):
        opened(Settings.at(world.folder, reports_topic="facts"))
    assert isinstance(opened(Settings.at(world.folder)), nullcontext)


def test_the_subscription_goes_on_after_an_error(world: CenterWorld) -> None:
    source, told = ListSource(report(DAYS[0])), EventRecorder()

    def opened() -> TopicDetector:
        if not told.events:
            raise RuntimeError("Kafka is away")
        return TopicDetector("facts", source, world.center, world.store.read)

    with TopicSubscription(opened, lambda: 1, told):
        until(lambda: world.ready() == [f"dwd@{DAYS[0]}"], "the report")
    assert told.events == ["again"]


def test_short_messages_with_many_slices_are_no_one_commit(world: CenterWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    take = world.center.report

    def counting(facts: Sequence[Fact], **more: Any) -> Receipt:
        sizes.append(len(facts))
        return take(facts, **more)

    monkeypatch.setattr(world.center, "report", counting)
    monkeypatch.setattr(topic_detector, "MAX_SLICES", 5)
    days = "table=ods&&dt>=20240601&&dt<=20240604"
    polled = TopicDetector("facts", ListSource(*[report(days)] * 7), world.center, world.store.read).poll()
    assert polled.messages == 7
    assert max(sizes) <= 5
