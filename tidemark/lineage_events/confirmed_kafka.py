"""OpenLineage's transport to Kafka, which only logs what was not delivered: here it is an error, as of its others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from openlineage.client.serde import Serde
from openlineage.client.transport.kafka import KafkaTransport

from tidemark.lineage_events.errors import UndeliveredEventError

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

_SECONDS: Final = 30.0


class ConfirmedKafka(KafkaTransport):
    """Waits for the broker's word on each event. Raises UndeliveredEventError: it may still come, and then twice."""

    seconds = _SECONDS

    def emit(self, event: Any) -> None:
        """Send it, and wait until it is there."""
        problems: list[str] = []

        def note(error: object, _message: object) -> None:
            if error is not None:
                problems.append(str(error))

        producer = self.producer
        if producer is None:
            raise UndeliveredEventError("there is no producer")
        producer.produce(
            topic=self.topic,
            key=self.message_key or self._get_message_key(event),
            value=Serde.to_json(event).encode(),
            on_delivery=note,
        )
        if producer.flush(self.seconds) or problems:
            raise UndeliveredEventError("the broker did not take an event", found=", ".join(problems)[:300] or None)


def with_confirmation(client: OpenLineageClient) -> OpenLineageClient:
    """The client, whose transport to Kafka, where it is that, waits for the broker."""
    transport = client.transport
    if isinstance(transport, KafkaTransport) and not isinstance(transport, ConfirmedKafka):
        client.transport = ConfirmedKafka(transport.kafka_config)
    return client
