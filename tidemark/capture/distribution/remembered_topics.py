"""The distribution's notes about its topics, in a compacted Kafka topic.

A note of a logical topic has its number of partitions. A note of an instance's topic shows that messages of it were
sent on. Each note has the topic's id, because a topic that was deleted and created again is another topic.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tidemark.strict_json import json_text
from tidemark.system.kafka_client import librdkafka

NOTES: Final = "tidemark.distribution"
_SECONDS: Final = 15.0
_MOST_PARTITIONS: Final = 1_000_000


@dataclass(frozen=True)
class Topic:
    """A topic as the broker had it at one time."""

    id: str
    partitions: int

    def encode(self) -> bytes:
        return json_text(asdict(self)).encode()

    @classmethod
    def decode(cls, value: bytes) -> Self | None:
        """The note; None for a value that is not a note, because other programs may write to the topic."""
        try:
            note = json.loads(value)
            topic, partitions = note["id"], note["partitions"]
        except (ValueError, RecursionError, TypeError, KeyError):
            return None
        is_note = isinstance(topic, str) and type(partitions) is int and 0 < partitions < _MOST_PARTITIONS
        return cls(topic, partitions) if is_note else None


def read_notes(servers: str) -> Mapping[str, Topic]:
    """The notes by topic. Raises KafkaException."""
    settings = {**librdkafka(servers), "group.id": NOTES, "enable.auto.commit": False, "log_level": 0}
    # An empty fetch reports the end of the partition; let it return at once.
    at_end = {"enable.partition.eof": True, "fetch.wait.max.ms": 10}
    consumer = Consumer({**settings, **at_end, "isolation.level": "read_committed"})
    try:
        consumer.assign([TopicPartition(NOTES, 0, 0)])
        return _to_the_end(consumer)
    finally:
        consumer.close()


def _to_the_end(consumer: Consumer) -> Mapping[str, Topic]:
    notes: dict[str, Topic] = {}
    while (message := consumer.poll(_SECONDS)) is not None:
        error, key, value = message.error(), message.key(), message.value()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                return notes
            raise KafkaException(error)
        if key is not None and value is not None and (note := Topic.decode(value)):
            notes[key.decode(errors="replace")] = note
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{NOTES} was not read in {_SECONDS:.0f} s"))  # noqa: SLF001
