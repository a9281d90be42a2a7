"""The distribution as a process that goes on: as many of them as there are instances' topics share the work."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from resources.capture.distribution.errors import SessionLostError, TopicsMissingError
from resources.capture.distribution.routes import Routes, check_tables, logical_topic
from resources.capture.distribution.session import Session
from resources.capture.kafka.errors import BrokerDownError
from resources.capture.source import SourceTable, instances_of, topic_of

# Messages of one transaction: few enough to be through within a blink, enough that its cost does not count.
BATCH = 20_000
_WAIT_SECONDS = 0.2
_SECONDS = 30.0


@dataclass
class Done:
    """Messages sent on, how many of nobody's tables were among them, and how often a session was lost."""

    messages: int = 0
    nobodys: int = 0
    sessions_lost: int = 0


def distribute(
    servers: str, tables: Sequence[SourceTable], partitions: int, goes_on: Callable[[Done], bool], batch: int = BATCH
) -> Done:
    """Send on until `goes_on`, asked after each transaction of `batch` messages at most, says no.

    `partitions` are those of logical topics that have to be made; topics that are there keep theirs. Raises
    SharedPhysicalTableError, BrokerDownError, TopicsMissingError.
    """
    check_tables(tables)
    routes = Routes(tables, ensure_topics(servers, tables, partitions))
    done = Done()
    while goes_on(done):
        try:
            with Session(servers, uuid.uuid4().hex, routes, instances_of(tables)) as session:
                while goes_on(done):
                    sent = session.step(batch, _WAIT_SECONDS)
                    done.messages += sent.messages
                    done.nobodys += sent.nobodys
        except SessionLostError:
            done.sessions_lost += 1
    return done


def ensure_topics(servers: str, tables: Sequence[SourceTable], partitions: int) -> Mapping[str, int]:
    """The number of partitions of each logical topic, made where it is not there.

    Raises BrokerDownError, and TopicsMissingError for topics of instances: those their connectors make.
    """
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    there = _topics(admin, servers)
    missing = {topic_of(instance) for instance in instances_of(tables)} - there.keys()
    if missing:
        raise TopicsMissingError.of(servers, missing)
    wanted = list(dict.fromkeys(logical_topic(table) for table in tables))
    new = [NewTopic(topic, partitions) for topic in wanted if topic not in there]
    if new:
        for created in admin.create_topics(new).values():
            # Another process may have been faster.
            created.exception(_SECONDS)
        there = _topics(admin, servers)
    return {topic: there[topic] for topic in wanted}


def _topics(admin: AdminClient, servers: str) -> dict[str, int]:
    try:
        found = admin.list_topics(timeout=_SECONDS).topics
    except KafkaException as error:
        raise BrokerDownError.of(servers, error.args[0].str()) from error
    return {name: len(topic.partitions) for name, topic in found.items()}
