"""What a reader of committed messages sees of a topic."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A transaction whose member is dead is ended by the broker after 15 s, when it looks: every 10 s.
_SECONDS: Final = 60.0


def committed_messages(servers: str, topic: str, partitions: int) -> list[Message]:
    """All committed messages, each partition in its order; waits until no transaction is open."""
    return list(messages_of(servers, topic, partitions))


def count_committed(servers: str, topic: str, partitions: int) -> int:
    """How many they are."""
    return sum(1 for _ in messages_of(servers, topic, partitions))


def messages_of(servers: str, topic: str, partitions: int) -> Iterator[Message]:
    """The same one by one, of a topic that does not fit into memory."""
    settings = {"bootstrap.servers": servers, "group.id": "check", "log_level": 0}
    at_end = {"enable.partition.eof": True, "fetch.wait.max.ms": 10}
    places = [TopicPartition(topic, number, 0) for number in range(partitions)]
    # Asked by one that sees open transactions, too.
    with closing(Consumer({**settings, "isolation.level": "read_uncommitted"})) as every:
        ends = [every.get_watermark_offsets(place, 30)[1] for place in places]
    with closing(Consumer({**settings, **at_end, "isolation.level": "read_committed"})) as consumer:
        for place, end in zip(places, ends, strict=True):
            yield from _partition(consumer, place, end)


def _partition(consumer: Consumer, place: TopicPartition, end: int) -> Iterator[Message]:
    consumer.assign([place])
    deadline = time.monotonic() + _SECONDS
    while True:
        messages = consumer.consume(10_000, 0.1)
        assert messages or time.monotonic() < deadline, f"{place}: a transaction is open before {end}"
        for message in messages:
            error = message.error()
            if error is None:
                yield message
            elif error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            elif (message.offset() or 0) >= end:
                return


def numbers(messages: Iterable[Message]) -> dict[tuple[int, str], list[int]]:
    """By partition and key, the numbers in order."""
    numbers_of: dict[tuple[int, str], list[int]] = defaultdict(list)
    for message in messages:
        numbers_of[message.partition() or 0, (message.key() or b"").decode()].append(
            json.loads(message.value() or b"")["after"]["id"]
        )
    return numbers_of
