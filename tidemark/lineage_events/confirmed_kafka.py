"""OpenLineage's Kafka transport with an error for undelivered events. The original only logs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from openlineage.client.serde import Serde
from openlineage.client.transport.kafka import KafkaTransport

from tidemark.errors import TransientError

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

_SECONDS: Final = 30.0


class ConfirmedKafka(KafkaTransport):
    """Waits for the broker's confirmation of each event.

    Raises UndeliveredEventError; the event may still arrive, then twice.
    """

    seconds = _SECONDS

    def emit(self, event: Any) -> None:
        """Send an event and wait for its confirmation."""
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
    """The client. A Kafka transport waits for the broker's confirmation."""
    transport = client.transport
    if isinstance(transport, KafkaTransport) and not isinstance(transport, ConfirmedKafka):
        client.transport = ConfirmedKafka(transport.kafka_config)
    return client


class UndeliveredEventError(TransientError):
    """A broker did not confirm an event in time."""
