"""One membership of the group: reads messages of the instances' topics, and writes logical topics in transactions.

A transaction holds both the messages and the offsets read, so either all of it takes effect or nothing (Kafka's
KIP-447). A process that dies leaves nothing that a reader of committed messages sees. The next member with its
partitions begins where the last transaction ended. Only one member has a partition, and a member that the group has
dropped cannot commit. So a rebalance never breaks the order of a physical table.

A message keeps its value, time and headers; its key becomes the physical table. Tombstones are dropped: with that key,
a compacted topic would forget the table.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, Final, NamedTuple, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from tidemark.capture.distribution.errors import NotTakenError, SessionLostError
from tidemark.capture.distribution.physical_table_of_message import physical_of
from tidemark.capture.distribution.prepare_topics import UNREADABLE, Topics
from tidemark.capture.distribution.remembered_topics import NOTES
from tidemark.capture.distribution.routes import Routes
from tidemark.capture.distribution.topic_reader import GROUP, MessageBatch, TopicReader
from tidemark.capture.source_table import topic_of
from tidemark.system.kafka_client import librdkafka

_SECONDS: Final = 15.0
_CLOSE_SECONDS: Final = 3.0


class TransactionCounts(NamedTuple):
    """Counts of one transaction. `messages` includes the unrouted and unreadable ones."""

    messages: int = 0
    unrouted: int = 0
    unreadable: int = 0


class DistributionSession:
    """A reader and its producer. After SessionLostError it is not used again."""

    def __init__(self, servers: str, name: str, routes: Routes, topics: Topics) -> None:
        """Begin a session. `name` is this member's own: its earlier user cannot send any more.

        Raises SessionLostError.
        """
        self._routes = routes
        self._topics = topics
        self._refused: NotTakenError | None = None
        self._producer = Producer({**_settings(servers, name), "on_delivery": self._not_delivered})
        try:
            self._producer.init_transactions(_SECONDS)
        except KafkaException as error:
            raise SessionLostError.of(error.args[0].str()) from error
        self.reader = TopicReader(servers, topics.sources, topics.begun)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # End an open transaction first, because the next member with the partitions would have to wait for it. If that
        # fails, the next member of this name ends it.
        close_within(_CLOSE_SECONDS, partial(end_producer, self._producer))
        close_within(_CLOSE_SECONDS, self.reader.close)

    def step(self, most: int, seconds: float) -> TransactionCounts:
        """Send on at most `most` messages that arrive within `seconds`, in one transaction.

        Raises SessionLostError. Raises MessagesLostError, PlaceLostError and NotTakenError, which a person has to
        resolve. After an error, the batch was not sent.
        """
        try:
            batch = self.reader.read(most, seconds)
            return self._send(batch) if batch.messages else TransactionCounts()
        except KafkaException as error:
            with suppress(KafkaException):
                self._producer.abort_transaction(_SECONDS)
            with suppress(KafkaException):
                # Read the reason from the callback; after a fatal error the producer itself does not give it.
                self._producer.poll(0)
            if self._refused is not None:
                raise self._refused from error
            raise SessionLostError.of(error.args[0].str()) from error

    def _send(self, batch: MessageBatch) -> TransactionCounts:
        self._producer.begin_transaction()
        unrouted = unreadable = 0
        for message in batch.messages:
            value = message.value()
            if value is None:
                continue
            physical = physical_of(value)
            if physical is None:
                unreadable += 1
                self._dead_letter(message, value)
            else:
                unrouted += not self._forward(message, value, physical)
        self._commit(batch)
        return TransactionCounts(len(batch.messages), unrouted, unreadable)

    def _commit(self, batch: MessageBatch) -> None:
        for topic in batch.assignment.new & batch.ends.keys():
            self._produce(NOTES, self._topics.sources[topic].encode(), topic.encode(), 0)
        places = [TopicPartition(topic, 0, end) for topic, end in batch.ends.items()]
        self._producer.send_offsets_to_transaction(places, batch.assignment.member, _SECONDS)
        self._producer.commit_transaction(_SECONDS)
        self.reader.mark_sent(batch)

    def _forward(self, message: Message, value: bytes, physical: str) -> bool:
        """Send a message on. Returns whether an entity declares its table."""
        targets = self._routes.targets(str(message.topic()).removeprefix(_PREFIX), physical)
        timestamp, headers = message.timestamp()[1], message.headers()
        for target in targets:
            self._produce(target.topic, value, target.key, target.partition, timestamp, headers)
        return bool(targets)

    def _dead_letter(self, message: Message, value: bytes) -> None:
        """Put a message into the topic of unreadable messages, with its offset, so that a person can correct it."""
        topic, place = str(message.topic()), {"partition": message.partition(), "offset": message.offset()}
        headers = [("topic", topic.encode()), *((name, str(number).encode()) for name, number in place.items())]
        self._produce(UNREADABLE, value, topic.encode(), 0, message.timestamp()[1], headers)

    def _produce(
        self, topic: str, value: bytes, key: bytes, partition: int, timestamp: int = 0, headers: Any = None
    ) -> None:
        while True:
            try:
                self._producer.produce(topic, value, key, partition, timestamp=timestamp, headers=headers)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _not_delivered(self, error: KafkaError, message: Message) -> None:
        if error.code() in _REFUSALS:
            key, value = message.key() or b"", message.value() or b""
            self._refused = NotTakenError.of(str(message.topic()), key.decode(), len(value), error.str())


_PREFIX: Final = topic_of("")
# Errors that a retry does not cure. A message may also exceed the producer's own limit.
_REFUSALS: Final = frozenset(
    {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.INVALID_RECORD}
)


def _settings(servers: str, name: str) -> dict[str, str | int | bool]:
    return {
        **librdkafka(servers),
        "transactional.id": f"{GROUP}.{name}",
        # The time after which the broker aborts a dead member's transaction; until then readers see nothing after it.
        "transaction.timeout.ms": 15_000,
        "linger.ms": 5,
        "queue.buffering.max.messages": 500_000,
        # The topics limit the size.
        "message.max.bytes": 1_000_000_000,
        "delivery.report.only.error": True,
        "log_level": 0,
    }


def close_within(seconds: float, close: Callable[[], object]) -> bool:
    """Whether `close` returned within `seconds`; else a daemon thread goes on with it."""

    def run() -> None:
        with suppress(KafkaException, RuntimeError, RuntimeWarning):
            close()

    thread = Thread(target=run, name="close-kafka-client", daemon=True)
    # The client warns if it cannot end a transaction.
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        thread.start()
        thread.join(seconds)
    return not thread.is_alive()


def end_producer(producer: Producer) -> None:
    """Close a producer. Messages that still wait belong to no committed transaction, so they are dropped first."""
    producer.purge()
    producer.close()
