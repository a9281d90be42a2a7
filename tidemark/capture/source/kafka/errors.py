"""Errors of reading changes from Kafka.

CaptureError
├── TopicMissingError  an instance has no topic
├── TopicPartitionsError  more than one partition, so that records have no order
├── TopicReplacedError    another topic of the same name
├── OffsetsLostError   the broker dropped records that were not read yet
└── TopicShrunkError   the topic ends before what was read: another topic of the same name
TransientError
└── BrokerDownError    no broker answers
"""

from typing import Self

from tidemark.errors import TransientError
from tidemark.system.errors import CaptureError


class TopicMissingError(CaptureError):
    """An instance has no topic."""

    @classmethod
    def of(cls, topic: str, servers: str, said: str) -> Self:
        return cls(
            "a captured instance has no topic",
            expected=f"the topic {topic}",
            found=said,
            where=f"Kafka at {servers}",
            hint="start the instance's connector, or correct `instances` in the entity's source",
        )


class TopicPartitionsError(CaptureError):
    """A topic has more than one partition, so that its records have no order."""

    @classmethod
    def of(cls, topic: str, partitions: int) -> Self:
        return cls(
            "a topic does not keep the binlog's order",
            expected="one partition",
            found=f"{partitions} partitions",
            where=topic,
            hint="create the topic again with one partition, and let the connector send everything again",
        )


class TopicReplacedError(CaptureError):
    """Another topic of the same name."""

    @classmethod
    def of(cls, topic: str, expected: str, topic_id: str) -> Self:
        return cls(
            f"{topic} was created again: its offsets changed",
            expected=f"the topic with the id {expected}",
            found=topic_id,
            where=topic,
            hint="it was not read; tidemark capture reload TABLE begins with the new topic",
        )


class OffsetsLostError(CaptureError):
    """The broker dropped records that were not read yet; `low` is the first remaining offset."""

    low: int

    @classmethod
    def of(cls, topic: str, expected: int, low: int) -> Self:
        error = cls(
            f"changes are missing in {topic}",
            expected=f"offset {expected}",
            found=f"{low} as the first offset: {low - expected} records expired in Kafka before they were read",
            where=topic,
            hint="snapshots that need them are not tagged; run tidemark capture reload TABLE, and keep records longer",
        )
        error.low = low
        return error


class TopicShrunkError(CaptureError):
    """The topic ends before what was read; `high` is its end."""

    high: int

    @classmethod
    def of(cls, topic: str, expected: int, high: int) -> Self:
        error = cls(
            f"{topic} is not the topic that was read before",
            expected=f"records up to offset {expected}, which are merged already",
            found=f"{high} as its end: it was created again, or restored from an older state",
            where=topic,
            hint="it was not read; tidemark capture reload TABLE begins with the new topic",
        )
        error.high = high
        return error


class BrokerDownError(TransientError):
    """No broker answers."""

    @classmethod
    def of(cls, servers: str, said: str) -> Self:
        return cls(
            "Kafka does not answer",
            found=said,
            where=servers,
            hint="start it, or correct TIDEMARK_KAFKA; nothing was read, and the next step starts at the same place",
        )
