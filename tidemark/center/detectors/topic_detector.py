"""Subscription to a Kafka topic with reports in the format of the HTTP interface.

Positions are stored with the facts in one transaction of the state store; Kafka's consumer groups are not used. An
invalid message is reported and skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from tidemark.center.detectors.external_report import facts_of
from tidemark.center.errors import RequestError
from tidemark.dependency_model.subject import MAX_SLICES
from tidemark.errors import TidemarkError, TransientError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.center.center import DependencyCenter
    from tidemark.center.fact import Fact, Receipt
    from tidemark.state_store.reader import StateReader


class TopicMessage(NamedTuple):
    """A record of a topic's partition."""

    partition: int
    offset: int
    value: bytes


class TopicSource(Protocol):
    """A topic that is read from given positions."""

    def fetch(self, positions: Mapping[int, int], limit: int) -> Sequence[TopicMessage]:
        """The next messages; `positions` are the next offsets of known partitions, others begin at 0."""

    def close(self) -> None: ...


@dataclass(slots=True)
class TopicPoll:
    """The result of one poll: `refused` has each skipped message, with the reason."""

    new: int = 0
    messages: int = 0
    refused: list[tuple[TopicMessage, TidemarkError]] = field(default_factory=list)


class TopicDetector:
    """Reads one topic for one center."""

    def __init__(self, topic: str, source: TopicSource, center: DependencyCenter, read: StateReader) -> None:
        self._name, self._source, self._center = f"topic:{topic}", source, center
        stored = json.loads(read.cursor(self._name) or "{}")
        self._positions = {int(partition): int(offset) for partition, offset in stored.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def poll(self, limit: int = 1_000) -> TopicPoll:
        """Read the next messages. Raises StateStoreDownError; the position then stays.

        After an unexpected error, messages are handled one by one, and the faulty one is refused.
        """
        messages, polled = self._source.fetch(self._positions, limit), TopicPoll()
        for some in self._parts(messages):
            self._take_in_some(some, polled)
        return polled

    def _parts(self, messages: Sequence[TopicMessage]) -> Iterator[list[TopicMessage]]:
        """As many in one commit as one request over HTTP may hold: a short message can stand for a thousand slices."""
        part, count = list[TopicMessage](), 0
        for message in messages:
            size = self._size(message)
            if part and count + size > MAX_SLICES:
                yield part
                part, count = [], 0
            part.append(message)
            count += size
        if part:
            yield part

    def _size(self, message: TopicMessage) -> int:
        """The number of facts; none for a refused message."""
        return len(self._facts(message, TopicPoll()))

    def _take_in_some(self, messages: Sequence[TopicMessage], polled: TopicPoll) -> None:
        own = TopicPoll()
        try:
            self._take_in(messages, own)
        except TidemarkError:
            raise
        except Exception:  # noqa: BLE001 - as above
            own = TopicPoll()
            for message in messages:
                self._take_in_alone(message, own)
        polled.new += own.new
        polled.messages += own.messages
        polled.refused += own.refused

    def _take_in_alone(self, message: TopicMessage, polled: TopicPoll) -> None:
        try:
            self._take_in([message], polled)
        except TidemarkError:
            raise
        except Exception as error:  # noqa: BLE001 - a faulty message must not stop the later ones
            unexpected = RequestError("the message cannot be taken in", found=f"{type(error).__name__}: {error}"[:500])
            polled.refused.append((message, unexpected))
            self._report([], [message])
            polled.messages += 1

    def _take_in(self, messages: Sequence[TopicMessage], polled: TopicPoll) -> None:
        if not messages:
            return
        refused = TopicPoll()
        facts = [fact for message in messages for fact in self._facts(message, refused)]
        receipt = self._report([fact for fact, _ in facts], messages)
        of_message = {id(fact): message for fact, message in facts}
        polled.refused += refused.refused + [(of_message[id(fact)], error) for fact, error in receipt.refused]
        polled.new += receipt.new
        polled.messages += len(messages)

    def _report(self, facts: Sequence[Fact], messages: Sequence[TopicMessage]) -> Receipt:
        """Report the facts, and the positions after these messages, in one commit."""
        positions = {**self._positions, **{message.partition: message.offset + 1 for message in messages}}
        cursor = json_text({str(partition): offset for partition, offset in sorted(positions.items())})
        receipt = self._center.report(facts, cursors={self._name: cursor})
        self._positions = positions
        return receipt

    def _facts(self, message: TopicMessage, polled: TopicPoll) -> list[tuple[Fact, TopicMessage]]:
        try:
            return [(fact, message) for fact in facts_of(message.value, self._center.graph)]
        except TransientError:
            raise
        except TidemarkError as error:
            polled.refused.append((message, error))
            return []
