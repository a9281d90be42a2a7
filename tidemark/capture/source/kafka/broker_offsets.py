"""Which offsets a broker has. Kafka keeps no position for us: the tables' commits do."""

from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tidemark.capture.source.kafka.errors import BrokerDownError, TopicMissingError, TopicPartitionsError
from tidemark.system.kafka_client import librdkafka


@dataclass(frozen=True)
class Bounds:
    """A topic's readable offsets: `[low, high)`."""

    low: int
    high: int


class Broker:
    """The topics of one Kafka cluster, as of now."""

    def __init__(self, bootstrap_servers: str, seconds: float = 20.0) -> None:
        """`seconds` is how long an answer may take."""
        self.bootstrap_servers = bootstrap_servers
        self._seconds = seconds

    def bounds(self, topics: Iterable[str]) -> dict[str, Bounds]:
        """The readable offsets of each topic.

        Raises BrokerDownError (a transient one), TopicMissingError, TopicPartitionsError for more than one partition.
        """
        settings = {**librdkafka(self.bootstrap_servers), "group.id": "tidemark.capture", "log_level": 0}
        consumer = Consumer({**settings, "enable.auto.commit": False})
        try:
            return {topic: self._bounds(consumer, topic) for topic in topics}
        except KafkaException as error:
            raise BrokerDownError.of(self.bootstrap_servers, error.args[0].str()) from error
        finally:
            consumer.close()

    def _bounds(self, consumer: Consumer, topic: str) -> Bounds:
        metadata = consumer.list_topics(topic, timeout=self._seconds).topics[topic]
        if metadata.error is not None:
            raise TopicMissingError.of(topic, self.bootstrap_servers, metadata.error.str())
        if len(metadata.partitions) != 1:
            raise TopicPartitionsError.of(topic, len(metadata.partitions))
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=self._seconds)
        return Bounds(low, high)
