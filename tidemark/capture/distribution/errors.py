"""Errors of the distribution.

CaptureError
├── SharedTopicError     two logical tables have one topic
├── TopicPatternError    a pattern that does not give valid topic names
├── TopicNotMadeError    the broker refused to create a topic
├── PartitionsChangedError  a topic's number of partitions changed, which would break a table's order
├── PlaceLostError    the offset to go on from in an instance's topic is unknown
├── MessagesLostError    the broker dropped messages that were not sent on yet
└── NotTakenError     the broker refuses a message
TransientError
├── SessionLostError     the group or the broker dropped this member
└── TopicsMissingError   topics that do not exist yet
"""

from collections.abc import Iterable
from typing import Self

from tidemark.errors import TransientError
from tidemark.system.errors import CaptureError


class SharedTopicError(CaptureError):
    """Two logical tables have one topic."""

    @classmethod
    def of(cls, topic: str, tables: tuple[str, str]) -> Self:
        return cls(
            "two logical tables would share one topic",
            expected="a separate topic for each",
            found=" and ".join(tables),
            where=topic,
            hint="name topics by entities, `--topics 'tables.{entity}'`, on every member",
        )


class TopicPatternError(CaptureError):
    """A pattern that does not give valid topic names."""

    @classmethod
    def of(cls, pattern: str, problem: str) -> Self:
        return cls(
            "the pattern does not give names of topics",
            expected="{table} or {entity}, and letters, digits, dots, _ and -",
            found=problem,
            where=pattern,
            hint="correct --topics; the default is tables.{table}",
        )


class TopicNotMadeError(CaptureError):
    """The broker refused to create a topic."""

    @classmethod
    def of(cls, topic: str, said: str) -> Self:
        return cls(
            "a topic cannot be created",
            found=said,
            where=topic,
            hint="create it by hand, or grant the right to create topics",
        )


class PartitionsChangedError(CaptureError):
    """A topic's number of partitions changed."""

    @classmethod
    def of(cls, topic: str, before: int, now: int) -> Self:
        return cls(
            "physical tables would move to other partitions, while their earlier messages are still unread",
            expected=f"{before} partitions, as at the first message",
            found=str(now),
            where=topic,
            hint="read the topic to its end, then delete it and start again: it is created with --partitions",
        )


class PlaceLostError(CaptureError):
    """The offset to go on from in an instance's topic is unknown."""

    @classmethod
    def of(cls, topic: str, group: str, notes: str) -> Self:
        return cls(
            "the position in the instance's topic is lost",
            expected=f"an offset of group {group}",
            found="no offset, although messages were sent on: a broker forgets a group without members after a week",
            where=topic,
            hint=f"set the offset with kafka-consumer-groups --reset-offsets, and offsets.retention.minutes higher; or "
            f"delete the logical topics and {notes}: everything is then sent again",
        )


class MessagesLostError(CaptureError):
    """The broker dropped messages that were not sent on yet."""

    @classmethod
    def of(cls, topic: str, said: str) -> Self:
        return cls(
            "changes are missing: messages were dropped before they were sent on",
            found=said,
            where=topic,
            hint="load the instance's tables again, set the group's offset with kafka-consumer-groups --reset-offsets, "
            "and keep messages longer",
        )


class NotTakenError(CaptureError):
    """The broker refuses a message."""

    @classmethod
    def of(cls, topic: str, key: str, size: int, said: str) -> Self:
        return cls(
            "the broker refuses a message, and no later message may overtake it",
            found=f"{said}; {size} bytes of {key}",
            where=topic,
            hint="raise its max.message.bytes to that of the instances' topics, or grant write access",
        )


class SessionLostError(TransientError):
    """The group or the broker dropped this member. Nothing of the last batch was sent."""

    @classmethod
    def of(cls, said: str) -> Self:
        return cls("the distribution continues after its last transaction", found=said)


class TopicsMissingError(TransientError):
    """Topics that do not exist yet."""

    @classmethod
    def of(cls, servers: str, missing: Iterable[str]) -> Self:
        return cls(
            "captured instances have no topics yet",
            expected=", ".join(sorted(missing)),
            where=f"Kafka at {servers}",
            hint="start the instances' connectors, or correct `instances` in the entities' sources",
        )
