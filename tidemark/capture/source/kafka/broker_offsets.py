"""The offsets that a broker has. Capture's own position is in the tables' commits, not in Kafka."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from tidemark.capture.source.kafka.errors import BrokerDownError, TopicMissingError, TopicPartitionsError
from tidemark.system.errors import CaptureError
from tidemark.system.kafka_client import librdkafka

# A missing topic is reported through its metadata.
_NO_ID: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError._UNSUPPORTED_FEATURE,  # noqa: SLF001 - librdkafka's own errors have no other name
    }
)
_ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"


@dataclass(frozen=True)
class Bounds:
    """A topic's readable offsets `[low, high)`. A topic that was created again has another id; empty if unknown."""

    low: int
    high: int
    topic_id: str = ""


class Broker:
    """The current topics of one Kafka cluster."""

    def __init__(self, bootstrap_servers: str, seconds: float = 20.0) -> None:
        """`seconds` is the timeout of an answer."""
        self.bootstrap_servers = bootstrap_servers
        self._seconds = seconds

    def bounds(self, topics: Iterable[str]) -> dict[str, Bounds]:
        """The readable offsets of each topic.

        Raises BrokerDownError (transient), TopicMissingError, TopicPartitionsError for more than one partition.
        """
        looked = self.look(topics)
        for answer in looked.values():
            if isinstance(answer, CaptureError):
                raise answer
        return {topic: bounds for topic, bounds in looked.items() if isinstance(bounds, Bounds)}

    def look(self, topics: Iterable[str]) -> dict[str, Bounds | CaptureError]:
        """The readable offsets of each topic, or the error of the topic. Raises BrokerDownError."""
        wanted = list(topics)
        settings = {**librdkafka(self.bootstrap_servers), "group.id": "tidemark.capture", "log_level": 0}
        consumer = Consumer({**settings, "enable.auto.commit": False})
        try:
            looked = {topic: self._looked(consumer, topic) for topic in wanted}
            ids = self._topic_ids(wanted) if wanted else {}
        except KafkaException as error:
            raise BrokerDownError.of(self.bootstrap_servers, error.args[0].str()) from error
        except TimeoutError as error:
            raise BrokerDownError.of(self.bootstrap_servers, "no answer about topics") from error
        finally:
            consumer.close()
        return {
            topic: replace(answer, topic_id=ids.get(topic, "")) if isinstance(answer, Bounds) else answer
            for topic, answer in looked.items()
        }

    def _looked(self, consumer: Consumer, topic: str) -> Bounds | CaptureError:
        try:
            return self._bounds(consumer, topic)
        except CaptureError as error:
            return error

    def _topic_ids(self, topics: Sequence[str]) -> dict[str, str]:
        """The ids of topics, from brokers that have them (Kafka 2.8) and allow the query."""
        admin = AdminClient({**librdkafka(self.bootstrap_servers), "log_level": 0})
        answers = admin.describe_topics(TopicCollection(list(topics)), request_timeout=self._seconds)
        ids: dict[str, str] = {}
        for topic, answer in answers.items():
            try:
                ids[topic] = str(answer.result(self._seconds).topic_id)
            except KafkaException as error:
                if error.args[0].code() not in _NO_ID:
                    raise
        return {topic: known for topic, known in ids.items() if known != _ZERO_ID}

    def _bounds(self, consumer: Consumer, topic: str) -> Bounds:
        metadata = consumer.list_topics(topic, timeout=self._seconds).topics[topic]
        if metadata.error is not None:
            raise TopicMissingError.of(topic, self.bootstrap_servers, metadata.error.str())
        if len(metadata.partitions) != 1:
            raise TopicPartitionsError.of(topic, len(metadata.partitions))
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=self._seconds)
        return Bounds(low, high)
