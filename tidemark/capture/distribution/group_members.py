"""The members of the consumer group, as the broker sees them."""

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tidemark.capture.distribution.topic_reader import GROUP
from tidemark.system.kafka_client import librdkafka

_SECONDS = 2.0


class ConsumerGroup:
    """The members of the group on all machines."""

    def __init__(self, servers: str) -> None:
        self._admin = AdminClient({**librdkafka(servers), "log_level": 0})

    def members(self) -> int | None:
        """The number of members; None if the broker does not answer."""
        answer = self._admin.describe_consumer_groups([GROUP], request_timeout=_SECONDS)[GROUP]
        try:
            return len(answer.result(_SECONDS).members)
        except (KafkaException, TimeoutError):
            return None
