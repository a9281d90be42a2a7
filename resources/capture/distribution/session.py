"""One membership of the group: messages of the instances' topics in, transactions on the logical topics out.

A transaction holds what was read and how far, so either both are there or neither (Kafka's KIP-447): a process that
dies leaves nothing behind that a reader of committed messages sees, and whoever has its partitions next begins where
its last transaction ended. Only one member has a partition, and a member that the group has left behind cannot commit,
so the order of a physical table survives any rebalance.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Self

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from resources.capture.distribution.errors import SessionLostError
from resources.capture.distribution.physical import physical_of
from resources.capture.distribution.routes import Routes, Target
from resources.capture.source import topic_of

GROUP: Final = "tidemark.distribution"
_SECONDS: Final = 15.0


class Sent(NamedTuple):
    """Messages of one transaction, and how many of them were of nobody's tables."""

    messages: int
    nobodys: int


class Session:
    """A consumer and its producer; thrown away after SessionLostError."""

    def __init__(self, servers: str, name: str, routes: Routes, instances: Iterable[str]) -> None:
        """`name` is this member's own, for as long as it lives."""
        self._routes = routes
        self._moved = False
        self._consumer = Consumer(_consumer_settings(servers))
        self._producer = Producer(_producer_settings(servers, name))
        topics = [topic_of(instance) for instance in instances]
        self._consumer.subscribe(topics, on_assign=self._note, on_revoke=self._note, on_lost=self._note)
        try:
            self._producer.init_transactions(_SECONDS)
        except KafkaException as error:
            self.close()
            raise SessionLostError.of(error.args[0].str()) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self, most: int, seconds: float) -> Sent:
        """Send on at most `most` messages, all that came within `seconds`, in one transaction.

        Raises SessionLostError: nothing of them was sent then.
        """
        try:
            messages = self._read(most, seconds)
            return self._send(messages) if messages else Sent(0, 0)
        except KafkaException as error:
            with suppress(KafkaException):
                self._producer.abort_transaction(_SECONDS)
            raise SessionLostError.of(error.args[0].str()) from error

    def close(self) -> None:
        """Leave the group, so that others have the partitions at once."""
        self._consumer.close()

    def _note(self, *_: object) -> None:
        self._moved = True

    def _read(self, most: int, seconds: float) -> Sequence[Message]:
        self._moved = False
        messages = self._consumer.consume(most, seconds)
        if self._moved:
            # The client may hand out what it had fetched of partitions that moved meanwhile: all of it is read again.
            self._begin_where_committed()
            return ()
        for message in messages:
            if message.error() is not None:
                raise KafkaException(message.error())
        return messages

    def _begin_where_committed(self) -> None:
        assigned = self._consumer.assignment()
        if not assigned:
            return
        found = self._consumer.committed(assigned, timeout=_SECONDS)
        for one in found:
            if one.offset == OFFSET_INVALID:
                one.offset = OFFSET_BEGINNING
        self._consumer.assign(found)

    def _send(self, messages: Sequence[Message]) -> Sent:
        self._producer.begin_transaction()
        ends: dict[tuple[str, int], int] = {}
        nobodys = 0
        for message in messages:
            nobodys += not self._forward(message)
            ends[str(message.topic()), message.partition() or 0] = (message.offset() or 0) + 1
        self._producer.send_offsets_to_transaction(
            [TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()],
            self._consumer.consumer_group_metadata(),
            _SECONDS,
        )
        self._producer.commit_transaction(_SECONDS)
        return Sent(len(messages), nobodys)

    def _forward(self, message: Message) -> bool:
        """Whether it is somebody's."""
        value = message.value()
        # A tombstone follows the delete that says all, and names no table.
        if value is None:
            return True
        instance = str(message.topic()).removeprefix(topic_of(""))
        physical = physical_of(value)
        targets = self._routes.targets(instance, physical) if physical else ()
        for target in targets:
            self._produce(target, value, message.timestamp()[1])
        return bool(targets)

    def _produce(self, target: Target, value: bytes, timestamp: int) -> None:
        while True:
            try:
                self._producer.produce(target.topic, value, target.key, target.partition, timestamp=timestamp)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return


def _consumer_settings(servers: str) -> dict[str, str | int | bool]:
    return {
        "bootstrap.servers": servers,
        "group.id": GROUP,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        # Also: whoever gets a partition waits for the transaction that is about its offset.
        "isolation.level": "read_committed",
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": 1_000,
        "max.poll.interval.ms": 120_000,
        "log_level": 0,
    }


def _producer_settings(servers: str, name: str) -> dict[str, str | int]:
    return {
        "bootstrap.servers": servers,
        "transactional.id": f"{GROUP}.{name}",
        # How long a dead member's transaction may keep what others sent after it from being read.
        "transaction.timeout.ms": 15_000,
        "linger.ms": 5,
        "compression.type": "lz4",
        "queue.buffering.max.messages": 500_000,
        "log_level": 0,
    }
