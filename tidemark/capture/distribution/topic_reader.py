"""The partitions that the group gave to this member, each read in order from where its last transaction ended.

Assignment is eager: at every change of the group all members give back everything, so whatever a member holds it holds
of one generation, and nothing of an earlier one can be in a batch. Cooperative assignment would keep other instances
flowing meanwhile; a change lasts less than a second and is rare, the batch in hand is all that is read twice.
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

    `member` is the member in the generation in which they were given: whoever asks later may hear of a later one, or,
    when the group has left the member behind, of none, and Kafka does not check who commits as nobody. `unread` are
    partitions of which it is not known yet from where to read, `ends` the offsets from which others are read on, `new`
    the topics of which nothing was ever sent on.
    """

    member: Any = None
    unread: Sequence[TopicPartition] = ()
    ends: Mapping[str, int] = field(default_factory=dict)
    new: frozenset[str] = frozenset()

    def after(self, ends: Mapping[str, int]) -> "Assignment":
        """Messages up to these offsets are through."""
        return replace(self, ends={**self.ends, **ends}, new=self.new - ends.keys())


class MessageBatch(NamedTuple):
    """Messages in the order of each topic, the offsets after the last ones, and the assignment that they are of."""

    messages: Sequence[Message]
    ends: Mapping[str, int]
    assignment: Assignment


class TopicReader:
    """`sources` are the topics as they are, `begun` what was noted when one was sent on first."""

    def __init__(self, servers: str, sources: Mapping[str, Topic], begun: Mapping[str, Topic]) -> None:
        self._sources = sources
        self._begun = dict(begun)
        self._assignment = Assignment()
        self._consumer = Consumer(_settings(servers))
        self._consumer.subscribe(list(sources), on_assign=self._give, on_revoke=self._take, on_lost=self._take)

    def read(self, most: int, seconds: float) -> MessageBatch:
        """At most `most` messages, all that came within `seconds`; none while partitions move.

        Raises KafkaException, SessionLostError, PlaceLostError, MessagesLostError.
        """
        if self._assignment.unread:
            self._assignment = self._begin(self._assignment)
        assignment = self._assignment
        messages = self._consumer.consume(most, seconds)
        if self._assignment is not assignment:
            # A batch may begin before a change of the group and end after it.
            return MessageBatch([], {}, self._assignment)
        return MessageBatch(messages, _ends_of(messages, assignment.ends), assignment)

    def mark_sent(self, batch: MessageBatch) -> None:
        """The messages are through."""
        new = batch.assignment.new & batch.ends.keys()
        self._begun.update({topic: self._sources[topic] for topic in new})
        self._assignment = batch.assignment.after(batch.ends)

    def lag(self) -> int:
        """Messages of this member's partitions that wait, as far as the client knows."""
        return sum(max(0, self._end(topic) - read) for topic, read in self._assignment.ends.items())

    def has(self) -> int:
        """How many of the instances' topics are this member's now."""
        return len(self._assignment.ends)

    def close(self) -> None:
        """Leave the group, so that others have the partitions at once."""
        self._consumer.close()

    def _end(self, topic: str) -> int:
        bounds = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), cached=True)
        return bounds[1] if bounds else 0

    def _give(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        member = consumer.consumer_group_metadata()
        # Asked after it: a member that was left behind has no name until it gave back what it has; it will be asked to.
        self._assignment = Assignment(member, partitions if consumer.memberid() else ())
        # Nothing is read before it is known from where.
        consumer.assign([])

    def _take(self, *_: object) -> None:
        self._assignment = Assignment()

    def _begin(self, given: Assignment) -> Assignment:
        """Read from where the last transaction ended; while that one is open, wait."""
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
        """None while nobody can say."""
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


# What comes while the transaction about an offset is open, or the coordinator moves.
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
    """Up to where the messages go, of each topic. Raises SessionLostError where they do not go on from `begin`."""
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
        # By ranges the first member would get partition 0 of every topic, and there are no others.
        "partition.assignment.strategy": "roundrobin",
        "enable.auto.commit": False,
        # An offset that is not there any more is a loss: nobody goes on after it by himself.
        "auto.offset.reset": "error",
        # Also: whoever gets a partition waits for the transaction that is about its offset.
        "isolation.level": "read_committed",
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": 1_000,
        "max.poll.interval.ms": 120_000,
        "log_level": 0,
    }
