"""Through a real broker, while members come, go and die: each message once, each physical table in its order."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from tests.capture.distribution.reading import committed_messages, numbers
from tests.capture.distribution.stream import PARTITIONS, SHARDS, Numbered, instances, message, tables
from tests.capture.source.kafka.topics import send
from tests.until import until
from tidemark.capture.distribution.errors import NotTakenError, SessionLostError
from tidemark.capture.distribution.prepare_topics import UNREADABLE, prepare
from tidemark.capture.distribution.routes import Routes, logical_topic
from tidemark.capture.distribution.service import Distribution, Done, distribute
from tidemark.capture.distribution.session import DistributionSession
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.capture.distribution.topic_reader import MessageBatch
    from tidemark.console.servers.kafka import Kafka

pytestmark = pytest.mark.components

COUNT = 1200
FIRST_MS = 1_774_220_400_000


def values_of(stream: Numbered) -> list[str | None]:
    """Changes of all tables in turn, with a tombstone, a heartbeat and an unrouted table among them."""
    values: list[str | None] = [stream.next(SHARDS[number % len(SHARDS)]) for number in range(COUNT)]
    values[700:700] = [None, message(stream.database, "unrouted", 1), message(stream.database, "heartbeat", 7)]
    return values


class Member(threading.Thread):
    """One process of the service, as a thread."""

    def __init__(self, what: Distribution) -> None:
        super().__init__(daemon=True)
        self.what, self.asked_to_stop = what, threading.Event()
        self.done = Done()
        self.start()

    def run(self) -> None:
        self.done = distribute(self.what, self._goes_on)

    def _goes_on(self, done: Done) -> bool:
        self.done = done
        return not self.asked_to_stop.is_set()

    def stop(self) -> None:
        self.asked_to_stop.set()
        self.join(60)
        assert not self.is_alive()


def session(what: Distribution, name: str) -> DistributionSession:
    topics = prepare(what.servers, what.tables, what.partitions, what.pattern)
    return DistributionSession(what.servers, name, Routes(what.tables, topics.partitions), topics)


def read(session: DistributionSession, most: int) -> MessageBatch:
    """A batch that is not sent on yet."""
    batch = session.reader.read(most, 0.2)
    while not batch.messages:
        batch = session.reader.read(most, 0.2)
    return batch


def test_every_message_once_and_in_order_while_members_come_go_and_die(kafka_server: Kafka, tmp_path: Path) -> None:
    streams = [Numbered(instance, "spread") for instance in instances("spread")]
    values = {stream.instance: values_of(stream) for stream in streams}
    total = sum(map(len, values.values()))
    for instance in values:
        kafka_server.create_topic(f"cdc.{instance}")
        send(kafka_server, f"cdc.{instance}", values[instance][:600])
    # Small transactions: so that members come and go between and within them.
    what = Distribution(
        kafka_server.bootstrap_servers, tables("spread"), Database.at(tmp_path / "state.db"), PARTITIONS, batch=100
    )

    dying = session(what, "mortal")
    _dies(dying)
    members = [Member(what)]
    until(lambda: members[0].done.messages > 200)
    for instance in values:
        send(kafka_server, f"cdc.{instance}", values[instance][600:])
    members.append(Member(what))
    until(lambda: members[1].done.messages > 100 or all_of(members) == total)
    members[0].stop()
    members.append(Member(what))
    until(lambda: all_of(members) >= total)
    for member in members[1:]:
        member.stop()
    # Who comes with the name of a dead one ends its transaction; else that is when its time is over.
    with session(what, "mortal"):
        pass
    assert all_of(members) == total
    assert sum(member.done.unrouted for member in members) == len(values)

    topics = [logical_topic(table) for table in what.tables]
    sent = {topic: numbers(committed_messages(what.servers, topic, PARTITIONS)) for topic in topics}
    beats = {(number, f"{instance}.spread.heartbeat"): [7] for instance in values for number in range(PARTITIONS)}
    changes = {topic: {place: ids for place, ids in of.items() if place not in beats} for topic, of in sent.items()}
    assert {key: ids for of in changes.values() for (_, key), ids in of.items()} == {
        key: ids for stream in streams for key, ids in stream.expected().items()
    }
    assert sum(map(len, changes.values())) == len(values) * len(SHARDS)
    assert all({place: ids for place, ids in of.items() if place in beats} == beats for of in sent.values())


def all_of(members: list[Member]) -> int:
    return sum(member.done.messages for member in members)


def _dies(dying: DistributionSession) -> None:
    """Gone after it sent messages, before it said how far it got: nothing of it may be seen."""
    dying._commit = _gone  # type: ignore[method-assign]
    with pytest.raises(InterruptedError):
        until(lambda: dying.step(100, 0.2) == (-1, -1, -1))
    dying._producer.flush(10)
    dying.reader.close()


def _gone(batch: object) -> None:
    raise InterruptedError


def test_a_dropped_member_cannot_commit(kafka_server: Kafka, tmp_path: Path) -> None:
    """It read a batch, then the group went on without it: its partitions are another's, at a place behind the batch."""
    table = SourceTable("ods_x", "fenced.x", ("f0",), ("id",), None, ())
    what = Distribution(kafka_server.bootstrap_servers, [table], Database.at(tmp_path / "state.db"), 1, batch=100)
    kafka_server.create_topic("cdc.f0")
    send(kafka_server, "cdc.f0", [message("fenced", "x", number) for number in range(50)])
    slow = session(what, "slow")
    batch = read(slow, 20)
    slow.reader.close()
    with session(what, "next") as following:
        until(lambda: following.step(30, 0.2).messages > 0)
        slow.reader.read = lambda *_: batch  # type: ignore[method-assign]
        with pytest.raises(SessionLostError):
            slow.step(20, 0.2)
        until(lambda: not following.step(30, 0.2).messages and following.reader.lag() == 0)
    assert numbers(committed_messages(what.servers, "tables.fenced.x", 1)) == {(0, "f0.fenced.x"): list(range(50))}


def test_a_message_keeps_its_time_and_headers_whatever_its_size(kafka_server: Kafka, tmp_path: Path) -> None:
    table = SourceTable("ods_x", "kept.x", ("h0",), ("id",), None, ())
    what = Distribution(kafka_server.bootstrap_servers, [table], Database.at(tmp_path / "state.db"), 1)
    kafka_server.create_topic("cdc.h0", config={"max.message.bytes": "3000000"})
    values = [message("kept", "x", 1), '{"after":', with_text(2, 2_000_000), message("kept", "unrouted", 4)]
    producer = Producer({"bootstrap.servers": what.servers, "message.max.bytes": 3_000_000, "log_level": 0})
    for number, value in enumerate(values):
        producer.produce("cdc.h0", value, "k", timestamp=FIRST_MS + number, headers=[("trace", b"a"), ("trace", b"b")])
    assert producer.flush(30) == 0
    done = distribute(what, lambda done: done.messages < len(values))
    assert (done.messages, done.unreadable, done.unrouted) == (len(values), 1, 1)
    messages = committed_messages(what.servers, "tables.kept.x", 1)
    assert [(entry.key(), entry.value()) for entry in messages] == [
        (b"h0.kept.x", values[at].encode()) for at in (0, 2)
    ]
    assert [entry.timestamp()[1] for entry in messages] == [FIRST_MS, FIRST_MS + 2]
    assert messages[0].headers() == [("trace", b"a"), ("trace", b"b")]
    (unreadable,) = committed_messages(what.servers, UNREADABLE, 1)
    assert (unreadable.key(), unreadable.value()) == (b"cdc.h0", b'{"after":')
    assert unreadable.headers() == [("topic", b"cdc.h0"), ("partition", b"0"), ("offset", b"1")]


def with_text(number: int, size: int) -> str:
    return message("kept", "x", number).replace('"after":{', f'"after":{{"text":"{"y" * size}",')


def test_a_message_that_the_broker_does_not_take_stops_it_with_the_reason(kafka_server: Kafka, tmp_path: Path) -> None:
    table = SourceTable("ods_x", "large.x", ("l0",), ("id",), None, ())
    what = Distribution(kafka_server.bootstrap_servers, [table], Database.at(tmp_path / "state.db"), 1)
    kafka_server.create_topic("cdc.l0")
    kafka_server.create_topic("tables.large.x", config={"max.message.bytes": "1000"})
    send(kafka_server, "cdc.l0", [message("large", "x", 1), with_text(2, 2000).replace("kept", "large")])
    with pytest.raises(NotTakenError, match=r"tables\.large\.x.*bytes of l0\.large\.x.*max\.message\.bytes"):
        distribute(what, lambda _: True)
    assert committed_messages(what.servers, "tables.large.x", 1) == []
