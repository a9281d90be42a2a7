"""Through a real broker, while members come, go and die: each message once, each physical table in its order."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, cast

import pytest
from confluent_kafka import Consumer, TopicPartition

from resources.capture.distribution.errors import TopicsMissingError
from resources.capture.distribution.routes import Routes, logical_topic
from resources.capture.distribution.service import Done, distribute, ensure_topics
from resources.capture.distribution.session import Session
from resources.capture.source import SourceTable
from tests.resources.capture.kafka.topics import send

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import Producer

    from tests.components.kafka import Kafka

pytestmark = pytest.mark.components

INSTANCES = ("d0", "d1", "d2", "d3")
ORDERS = SourceTable("ods_orders", "spread.orders_*", INSTANCES, ("order_id",), None, ())
PARTITIONS = 3
COUNT = 3000


def message(table: str, number: int) -> str:
    source = {"ts_ms": 1, "db": "spread", "table": table}
    return json.dumps({"after": {"id": number}, "source": source, "op": "c"}, separators=(",", ":"))


def sent(instance: str) -> list[str | None]:
    """Changes of three shards in turn, tombstones, a heartbeat, and a table of nobody's."""
    values: list[str | None] = [message(f"orders_{number % 3}", number) for number in range(COUNT)]
    values[100:100] = [None, message("nobodys", 1), message("heartbeat", 7), f'{{"of": "{instance}"}}']
    return values


def received(kafka: Kafka, topic: str, partitions: int, count: int) -> dict[tuple[int, str], list[int]]:
    """The numbers of committed messages, per partition and key, in the order of the partition."""
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "check", "isolation.level": "read_committed"}
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    quiet = 0
    end = time.monotonic() + 120
    # What comes twice comes after what is expected: a look longer.
    while quiet < 3:
        assert time.monotonic() < end, f"{sum(map(len, found.values()))} of {count} messages"
        messages = consumer.consume(5000, 1.0)
        for one in messages:
            key, value = one.key(), one.value()
            assert key is not None
            assert value is not None
            found[one.partition() or 0, key.decode()].append(json.loads(value)["after"]["id"])
        quiet = 0 if messages else quiet + (sum(map(len, found.values())) >= count)
    consumer.close()
    return found


class Member(threading.Thread):
    """One process of the service, as a thread."""

    def __init__(self, kafka: Kafka) -> None:
        super().__init__(daemon=True)
        self.kafka, self.asked_to_stop = kafka, threading.Event()
        self.done = Done()
        self.start()

    def run(self) -> None:
        # Small transactions: so that members come and go between and within them.
        self.done = distribute(self.kafka.bootstrap_servers, [ORDERS], PARTITIONS, self._goes_on, batch=100)

    def _goes_on(self, done: Done) -> bool:
        self.done = done
        return not self.asked_to_stop.is_set()

    def stop(self) -> None:
        self.asked_to_stop.set()
        self.join(60)
        assert not self.is_alive()


def test_every_message_once_and_in_order_while_members_come_go_and_die(kafka_server: Kafka) -> None:
    values = {instance: sent(instance) for instance in INSTANCES}
    total = sum(map(len, values.values()))
    for instance in INSTANCES:
        kafka_server.create_topic(f"cdc.{instance}")
        send(kafka_server, f"cdc.{instance}", values[instance][:1000])
    with mortal(kafka_server) as first:
        dies(first)
    members = [Member(kafka_server)]
    until(lambda: members[0].done.messages > 200)
    with mortal(kafka_server) as second:
        while not second._consumer.assignment():
            second.step(100, 0.2)
        for instance in INSTANCES:
            send(kafka_server, f"cdc.{instance}", values[instance][1000:])
        dies(second)
    members.append(Member(kafka_server))
    until(lambda: members[1].done.messages > 100 or all_of(members) == total)
    members[0].stop()
    members.append(Member(kafka_server))
    until(lambda: all_of(members) >= total)
    for one in members[1:]:
        one.stop()
    assert all_of(members) == total
    assert sum(one.done.nobodys for one in members) == 2 * len(INSTANCES)
    # Who comes with the name of a dead one ends its transaction; else that is when its time is over.
    mortal(kafka_server).close()

    found = received(
        kafka_server, logical_topic(ORDERS), PARTITIONS, COUNT * len(INSTANCES) + PARTITIONS * len(INSTANCES)
    )
    shards = {key: numbers for (_, key), numbers in found.items() if not key.endswith("heartbeat")}
    assert len(shards) == len(found) - PARTITIONS * len(INSTANCES)
    assert shards == {
        f"{instance}.spread.orders_{shard}": list(range(shard, COUNT, 3))
        for instance in INSTANCES
        for shard in range(3)
    }
    beats = {place: numbers for place, numbers in found.items() if place[1].endswith("heartbeat")}
    assert beats == {
        (number, f"{instance}.spread.heartbeat"): [7] for instance in INSTANCES for number in range(PARTITIONS)
    }


def all_of(members: list[Member]) -> int:
    return sum(one.done.messages for one in members)


def mortal(kafka: Kafka) -> Session:
    """A member that will be gone after it sent messages, before it said how far it got: nothing of it may be seen."""
    routes = Routes([ORDERS], ensure_topics(kafka.bootstrap_servers, [ORDERS], PARTITIONS))
    session = Session(kafka.bootstrap_servers, "mortal", routes, INSTANCES)
    session._producer = cast("Producer", Failing(session._producer))
    return session


def dies(session: Session) -> None:
    with pytest.raises(InterruptedError):
        until(lambda: session.step(100, 0.2) == (-1, -1))


class Failing:
    """A producer that is gone when the transaction is about to say how far it got."""

    def __init__(self, producer: object) -> None:
        self._producer = producer

    def __getattr__(self, name: str) -> object:
        return getattr(self._producer, name)

    def send_offsets_to_transaction(self, *_: object) -> None:
        raise InterruptedError


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_instances_without_topics_are_refused_at_the_start(kafka_server: Kafka) -> None:
    nowhere = SourceTable("ods_x", "spread.x", ("nowhere",), ("id",), None, ())
    with pytest.raises(TopicsMissingError, match=r"cdc\.nowhere"):
        distribute(kafka_server.bootstrap_servers, [nowhere], 1, lambda _: True)
