"""Subscription to a Kafka topic whose messages are reports, in the form that the HTTP interface takes.

Positions are kept in the state store, in the same transaction as what was read; Kafka's own consumer groups are not
used. A message that cannot be understood, or cannot be so, is told and passed over: those after it do not wait for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tidemark.center.detectors.report import facts_of
from tidemark.dependency_model.errors import TidemarkError, TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.center.center import DependencyCenter
    from tidemark.center.fact import Fact
    from tidemark.state_store.reader import StateReader


class Message(NamedTuple):
    """A record of a topic's partition."""

    partition: int
    offset: int
    value: bytes


class Source(Protocol):
    """A topic that is read from given positions on."""

    def fetch(self, positions: Mapping[int, int], limit: int) -> Sequence[Message]:
        """The next messages; `positions` is the next offset of each partition that was read, others begin at 0."""


@dataclass(slots=True)
class Taken:
    """What one poll did: `refused` holds each message that was passed over, with why."""

    new: int = 0
    messages: int = 0
    refused: list[tuple[Message, TidemarkError]] = field(default_factory=list)


class TopicDetector:
    """Reads one topic for one center."""

    def __init__(self, topic: str, source: Source, center: DependencyCenter, read: StateReader) -> None:
        self._name, self._source, self._center = f"topic:{topic}", source, center
        stored = json.loads(read.cursor(self._name) or "{}")
        self._positions = {int(partition): int(offset) for partition, offset in stored.items()}

    def poll(self, limit: int = 1_000) -> Taken:
        """Take in the next messages. Raises StateStoreDownError: nothing was read then."""
        messages, taken = self._source.fetch(self._positions, limit), Taken()
        if not messages:
            return taken
        facts = [fact for message in messages for fact in self._facts(message, taken)]
        positions = {**self._positions, **{message.partition: message.offset + 1 for message in messages}}
        cursor = json.dumps({str(partition): offset for partition, offset in sorted(positions.items())})
        receipt = self._center.report([fact for fact, _ in facts], cursors={self._name: cursor})
        of_message = {id(fact): message for fact, message in facts}
        taken.refused += [(of_message[id(fact)], error) for fact, error in receipt.refused]
        taken.new, taken.messages, self._positions = receipt.new, len(messages), positions
        return taken

    def _facts(self, message: Message, taken: Taken) -> list[tuple[Fact, Message]]:
        try:
            return [(fact, message) for fact in facts_of(message.value, self._center.graph)]
        except TransientError:
            raise
        except TidemarkError as error:
            taken.refused.append((message, error))
            return []
