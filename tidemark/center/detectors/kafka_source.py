"""A Kafka topic as a source, read by partition and offset. Needs the package confluent-kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.center.detectors.topic_detector import TopicMessage
from tidemark.system.kafka_client import librdkafka

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS: Final = 3.0
_WAIT_SECONDS: Final = 0.5


class KafkaSource:
    """`servers` as `host:9092,...`; other settings of librdkafka by name."""

    def __init__(self, topic: str, servers: str, **settings: str) -> None:
        from confluent_kafka import Consumer  # noqa: PLC0415 - needed only to read Kafka

        self._topic = topic
        self._consumer = Consumer(
            {
                **librdkafka(servers),
                "group.id": "tidemark-center",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **settings,
            }
        )
        self._assigned: dict[int, int] = {}

    def fetch(self, positions: Mapping[int, int], limit: int) -> Sequence[TopicMessage]:
        """The next messages; none after a short wait. Also finds new partitions of the topic."""
        wanted = {number: positions.get(number, 0) for number in self._partitions()}
        if wanted != self._assigned:
            from confluent_kafka import TopicPartition  # noqa: PLC0415

            self._consumer.assign([TopicPartition(self._topic, number, offset) for number, offset in wanted.items()])
            self._assigned = wanted
        messages = [
            TopicMessage(record.partition() or 0, record.offset() or 0, record.value() or b"")
            for record in self._consumer.consume(limit, _WAIT_SECONDS)
            if record.error() is None
        ]
        self._assigned.update({message.partition: message.offset + 1 for message in messages})
        return messages

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()

    def _partitions(self) -> list[int]:
        metadata = self._consumer.list_topics(self._topic, _SECONDS).topics.get(self._topic)
        return sorted(metadata.partitions) if metadata and metadata.error is None else []
