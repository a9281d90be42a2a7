"""The partitions that the group assigned to this member, each read in order from the end of its last transaction.

Assignment is eager: at every change of the group all members give back all partitions. So all partitions of a member
are of one generation, and a batch has no records of an earlier one. Cooperative assignment would keep other instances
flowing, but a change takes less than a second and is rare. Only the current batch is read twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from tidemark.capture.distribution.errors import MessagesLostError, PlaceLostError, SessionLostError
from tidemark.capture.distribution.remembered_topics import NOTES, Topic
from tidemark.system.kafka_client import librdkafka

GROUP: Final = "tidemark.distribution"
_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Assignment:
    """The partitions that the member has, of one generation of the group.

    `member` is the member's metadata at the time of assignment. Metadata read later may be of a later generation, or
    empty after the group dropped the member, and Kafka does not check a commit without it. `unread` are partitions
    whose start offset is not known yet. `ends` are the next offsets of the others. `new` are topics whose
    messages were never sent on.
    """

    member: Any = None
    unread: Sequence[TopicPartition] = ()
    ends: Mapping[str, int] = field(default_factory=dict)
    new: frozenset[str] = frozenset()

    def after(self, ends: Mapping[str, int]) -> "Assignment":
        """The assignment after messages up to these offsets were sent on."""
        return replace(self, ends={**self.ends, **ends}, new=self.new - ends.keys())


class MessageBatch(NamedTuple):
    """Messages in the order of each topic, the offsets after the last ones, and their assignment."""

    messages: Sequence[Message]
    ends: Mapping[str, int]
    assignment: Assignment


class TopicReader:
    """Reads the instances' topics. `sources` are the current topics, `begun` the notes of topics that were sent on."""

    def __init__(self, servers: str, sources: Mapping[str, Topic], begun: Mapping[str, Topic]) -> None:
        self._sources = sources
        self._begun = dict(begun)
        self._assignment = Assignment()
        self._consumer = Consumer(_settings(servers))
        self._consumer.subscribe(list(sources), on_assign=self._give, on_revoke=self._take, on_lost=self._take)

    def read(self, most: int, seconds: float) -> MessageBatch:
        """At most `most` messages that arrive within `seconds`; none while partitions move.

        Raises KafkaException, SessionLostError, PlaceLostError, MessagesLostError.
        """
        if self._assignment.unread:
            self._assignment = self._begin(self._assignment)
        assignment = self._assignment
        messages = self._consumer.consume(most, seconds)
        if self._assignment is not assignment:
            # The batch may begin before a change of the group and end after it.
            return MessageBatch([], {}, self._assignment)
        return MessageBatch(messages, _ends_of(messages, assignment.ends), assignment)

    def mark_sent(self, batch: MessageBatch) -> None:
        """Record that the messages were sent on."""
        new = batch.assignment.new & batch.ends.keys()
        self._begun.update({topic: self._sources[topic] for topic in new})
        self._assignment = batch.assignment.after(batch.ends)

    def lag(self) -> int:
        """The number of waiting messages in this member's partitions, as far as the client knows."""
        return sum(max(0, self._end(topic) - read) for topic, read in self._assignment.ends.items())

    def has(self) -> int:
        """The number of instances' topics that this member has."""
        return len(self._assignment.ends)

    def close(self) -> None:
        """Leave the group, so that other members get the partitions at once."""
        self._consumer.close()

    def _end(self, topic: str) -> int:
        bounds = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), cached=True)
        return bounds[1] if bounds else 0

    def _give(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        member = consumer.consumer_group_metadata()
        # The order matters: a dropped member has no id until it gives back its partitions, which Kafka then requests.
        self._assignment = Assignment(member, partitions if consumer.memberid() else ())
        # Nothing is read until the start offsets are known.
        consumer.assign([])

    def _take(self, *_: object) -> None:
        self._assignment = Assignment()

    def _begin(self, given: Assignment) -> Assignment:
        """The assignment, read from the end of the last transaction; unchanged while that transaction is open."""
        places = self._committed_offsets(given.unread)
        if places is None:
            return given
        new = frozenset(place.topic for place in places if place.offset == OFFSET_INVALID)
        for topic in sorted(new):
            if self._begun.get(topic) == self._sources[topic]:
                raise PlaceLostError.of(topic, GROUP, NOTES)
        for place in places:
            if place.topic in new:
                place.offset = OFFSET_BEGINNING
        self._consumer.assign(places)
        return Assignment(given.member, ends={place.topic: max(0, place.offset) for place in places}, new=new)

    def _committed_offsets(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition] | None:
        """The committed offsets; None while the broker cannot give them."""
        try:
            places = self._consumer.committed(list(partitions), timeout=_SECONDS)
        except KafkaException as error:
            places, failures = [], [error.args[0]]
        else:
            failures = [place.error for place in places if place.error is not None]
        for failure in failures:
            if failure.code() not in _NOT_YET:
                raise KafkaException(failure)
        return None if failures else places


# Errors while a transaction with an offset is open, or the coordinator moves.
_NOT_YET: Final = frozenset(
    {
        KafkaError._TIMED_OUT,  # noqa: SLF001 - these are their public names
        KafkaError._WAIT_COORD,  # noqa: SLF001
        KafkaError.UNSTABLE_OFFSET_COMMIT,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
    }
)


def _ends_of(messages: Sequence[Message], begin: Mapping[str, int]) -> Mapping[str, int]:
    """The next offset of each topic. Raises SessionLostError if messages do not go on from `begin`."""
    ends: dict[str, int] = {}
    for message in messages:
        error, topic, offset = message.error(), str(message.topic()), message.offset() or 0
        if error is not None:
            raise _failure(error, topic)
        expected = ends.get(topic) or begin.get(topic)
        if expected is None or offset < expected:
            raise SessionLostError.of(f"the client handed out offset {offset} of {topic}, not {expected}")
        ends[topic] = offset + 1
    return ends


def _failure(error: KafkaError, topic: str) -> Exception:
    if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
        return MessagesLostError.of(topic, error.str())
    return KafkaException(error)


def _settings(servers: str) -> dict[str, str | int | bool]:
    return {
        **librdkafka(servers),
        "group.id": GROUP,
        # Each topic has one partition, so assignment by ranges would give all of them to the first member.
        "partition.assignment.strategy": "roundrobin",
        "enable.auto.commit": False,
        # A missing offset is a loss, and a person has to decide how to go on.
        "auto.offset.reset": "error",
        # A new reader of a partition also waits for an open transaction with its offset.
        "isolation.level": "read_committed",
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": 1_000,
        "max.poll.interval.ms": 120_000,
        "log_level": 0,
    }
