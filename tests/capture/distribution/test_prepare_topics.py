"""What is refused at the start, and what is remembered from one start to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from tests.capture.distribution.reading import committed_messages, numbers
from tests.capture.distribution.stream import message
from tests.capture.source.kafka.topics import send
from tidemark.capture.distribution import prepare_topics
from tidemark.capture.distribution.errors import PartitionsChangedError, PlaceLostError, TopicsMissingError
from tidemark.capture.distribution.prepare_topics import prepare
from tidemark.capture.distribution.service import Distribution, distribute
from tidemark.capture.distribution.topic_reader import GROUP
from tidemark.capture.source.kafka.errors import BrokerDownError, TopicPartitionsError
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.database import Database
from tidemark.system.errors import CaptureError
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

pytestmark = pytest.mark.components


def table(instance: str) -> SourceTable:
    return SourceTable("ods_x", f"{instance}.x", (instance,), ("id",), None, ())


def admin_of(kafka: Kafka) -> AdminClient:
    return AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})


def test_instances_without_topics_or_with_several_partitions_are_refused(kafka_server: Kafka) -> None:
    servers = kafka_server.bootstrap_servers
    with pytest.raises(TopicsMissingError, match=r"cdc\.nowhere.*start the instances' connectors"):
        prepare(servers, [table("nowhere")], 1)
    kafka_server.create_topic("cdc.wide", 2)
    with pytest.raises(TopicPartitionsError, match="expected one partition, found 2"):
        prepare(servers, [table("wide")], 1)
    with pytest.raises(CaptureError, match="nothing to send on"):
        prepare(servers, [], 1)


def test_a_broker_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare_topics, "_SECONDS", 0.5)
    with pytest.raises(BrokerDownError, match="TIDEMARK_KAFKA"):
        prepare(f"{LOOPBACK}:{free_port()}", [table("t0")], 1)


def test_a_changed_number_of_partitions_is_refused_until_the_topic_is_created_again(kafka_server: Kafka) -> None:
    servers, admin = kafka_server.bootstrap_servers, admin_of(kafka_server)
    kafka_server.create_topic("cdc.t1", config={"max.message.bytes": "3000000"})
    assert prepare(servers, [table("t1")], 2).partitions == {"tables.t1.x": 2}
    # What is there stays as it is.
    assert prepare(servers, [table("t1")], 5).partitions == {"tables.t1.x": 2}
    assert prepare_topics._largest(admin, ["tables.t1.x"]) == 3_000_000
    admin.create_partitions([NewPartitions("tables.t1.x", 3)])["tables.t1.x"].result(30)
    with pytest.raises(PartitionsChangedError, match=r"tables\.t1\.x.*expected 2 partitions.*found 3.*delete it"):
        prepare(servers, [table("t1")], 2)
    admin.delete_topics(["tables.t1.x"])["tables.t1.x"].result(30)
    assert prepare(servers, [table("t1")], 4).partitions == {"tables.t1.x": 4}
    assert prepare(servers, [table("t1")], 4).partitions == {"tables.t1.x": 4}


def test_a_lost_offset_is_an_error_and_not_a_new_start(kafka_server: Kafka, tmp_path: Path) -> None:
    what = Distribution(kafka_server.bootstrap_servers, [table("t2")], Database.at(tmp_path / "state.db"), 1)
    kafka_server.create_topic("cdc.t2")
    send(kafka_server, "cdc.t2", [message("t2", "x", 0)])
    distribute(what, lambda done: done.messages < 1)
    admin = admin_of(kafka_server)
    admin.delete_consumer_groups([GROUP])[GROUP].result(30)
    with pytest.raises(PlaceLostError, match="--reset-offsets"):
        distribute(what, lambda _: True)
    # A topic that was made anew is another one, and is begun.
    admin.delete_topics(["cdc.t2"])["cdc.t2"].result(30)
    kafka_server.create_topic("cdc.t2")
    send(kafka_server, "cdc.t2", [message("t2", "x", 1)])
    distribute(what, lambda done: done.messages < 1)
    assert numbers(committed_messages(what.servers, "tables.t2.x", 1)) == {(0, "t2.t2.x"): [0, 1]}
