"""Checks the topics that the distribution reads and writes, and creates missing ones."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewTopic

from tidemark.capture.distribution.errors import PartitionsChangedError, TopicNotMadeError, TopicsMissingError
from tidemark.capture.distribution.remembered_topics import NOTES, Topic, read_notes
from tidemark.capture.distribution.routes import TOPICS, check_tables, logical_topic
from tidemark.capture.source.kafka.errors import BrokerDownError, TopicPartitionsError
from tidemark.capture.source_table import SourceTable, instances_of, topic_of
from tidemark.system.errors import CaptureError
from tidemark.system.kafka_client import librdkafka

# The topic of messages that are neither Debezium's nor Canal's.
UNREADABLE: Final = "tidemark.distribution.unreadable"
_LARGEST: Final = "max.message.bytes"
_SECONDS: Final = 10.0
_TRIES: Final = 50


@dataclass(frozen=True)
class Topics:
    """The current topics of the instances and of the logical tables; `begun` has the stored notes of the former."""

    sources: Mapping[str, Topic]
    logical: Mapping[str, Topic]
    begun: Mapping[str, Topic]

    @property
    def partitions(self) -> Mapping[str, int]:
        """The number of partitions of each logical topic."""
        return {name: topic.partitions for name, topic in self.logical.items()}


def prepare(servers: str, tables: Sequence[SourceTable], partitions: int, pattern: str = TOPICS) -> Topics:
    """Check all topics, and create missing logical ones with this number of `partitions`.

    Raises SharedPhysicalTableError, SharedTopicError, TopicPatternError, BrokerDownError, TopicsMissingError,
    TopicPartitionsError, TopicNotMadeError, PartitionsChangedError.
    """
    if not tables:
        raise CaptureError(
            "nothing to send on", expected="an entity with a source", found="none", hint="declare a captured table"
        )
    check_tables(tables, pattern)
    try:
        return _prepare(servers, tables, partitions, pattern)
    except KafkaException as error:
        raise BrokerDownError.of(servers, error.args[0].str()) from error
    except TimeoutError as error:
        raise BrokerDownError.of(servers, f"no answer within {_SECONDS:.0f} s") from error


def _prepare(servers: str, tables: Sequence[SourceTable], partitions: int, pattern: str) -> Topics:
    admin = AdminClient({**librdkafka(servers), "log_level": 0})
    wanted = [topic_of(instance) for instance in instances_of(tables)]
    sources = _describe(admin, wanted)
    if len(sources) < len(wanted):
        raise TopicsMissingError.of(servers, set(wanted) - sources.keys())
    for name, topic in sources.items():
        if topic.partitions != 1:
            raise TopicPartitionsError.of(name, topic.partitions)
    names = list(dict.fromkeys(logical_topic(table, pattern) for table in tables))
    logical = _make_missing(admin, names, partitions, _largest(admin, wanted))
    notes = read_notes(servers)
    _check_partitions(logical, notes)
    _note(servers, {name: topic for name, topic in logical.items() if notes.get(name) != topic})
    return Topics(sources, logical, {name: notes[name] for name in wanted if name in notes})


def _check_partitions(logical: Mapping[str, Topic], notes: Mapping[str, Topic]) -> None:
    for name, topic in logical.items():
        before = notes.get(name)
        if before is not None and before.id == topic.id and before.partitions != topic.partitions:
            raise PartitionsChangedError.of(name, before.partitions, topic.partitions)


def _describe(admin: AdminClient, names: Sequence[str]) -> dict[str, Topic]:
    """The topics of `names` that exist."""
    topics: dict[str, Topic] = {}
    for name, answer in admin.describe_topics(TopicCollection(list(names)), request_timeout=_SECONDS).items():
        try:
            topic = answer.result(_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
        else:
            topics[name] = Topic(str(topic.topic_id), len(topic.partitions))
    return topics


def _largest(admin: AdminClient, sources: Iterable[str]) -> int:
    """The largest `max.message.bytes` of the instances' topics."""
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in sources]
    answers = admin.describe_configs(resources, request_timeout=_SECONDS).values()
    return max(int(answer.result(_SECONDS)[_LARGEST].value) for answer in answers)


def _make_missing(admin: AdminClient, names: Sequence[str], partitions: int, largest: int) -> dict[str, Topic]:
    """The topics of `names`; missing ones are created, as are the distribution's own. Existing ones stay unchanged."""
    room = {_LARGEST: str(largest)}
    new = {
        **{name: NewTopic(name, partitions, config=room) for name in names},
        UNREADABLE: NewTopic(UNREADABLE, 1, config=room),
        NOTES: NewTopic(NOTES, 1, config={"cleanup.policy": "compact"}),
    }
    there = _describe(admin, list(new))
    missing = [topic for name, topic in new.items() if name not in there]
    if missing:
        _make(admin, missing)
        there = _once_there(admin, list(new))
    return {name: there[name] for name in names}


def _once_there(admin: AdminClient, names: Sequence[str]) -> dict[str, Topic]:
    """The topics, once all of them exist. A new topic is not known to every broker at once."""
    for _ in range(_TRIES):
        topics = _describe(admin, names)
        if len(topics) == len(names):
            return topics
        time.sleep(_SECONDS / _TRIES)
    raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, ", ".join(set(names) - topics.keys())))


def _make(admin: AdminClient, topics: Sequence[NewTopic]) -> None:
    for name, created in admin.create_topics(list(topics), operation_timeout=_SECONDS).items():
        error = created.exception(2 * _SECONDS)
        # Another member may have been faster.
        if not isinstance(error, KafkaException) or error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            continue
        raise error if error.args[0].retriable() else TopicNotMadeError.of(name, error.args[0].str())


def _note(servers: str, topics: Mapping[str, Topic]) -> None:
    if not topics:
        return
    producer = Producer({**librdkafka(servers), "enable.idempotence": True, "log_level": 0})
    for name, topic in topics.items():
        producer.produce(NOTES, topic.encode(), name, partition=0)
    if producer.flush(_SECONDS):
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{NOTES} was not written"))  # noqa: SLF001
