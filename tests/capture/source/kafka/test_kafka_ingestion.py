"""Changes from a real broker's topics: each once, and what cannot be complete is said."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.capture.operations.history import ShardedHistory
from tests.capture.operations.test_crash import ORDERS, check
from tests.capture.source.kafka.topics import publish
from tests.capture.streams import USERS, Stream, at
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.errors import OffsetsLostError, TopicMissingError, TopicPartitionsError
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.console.servers.kafka import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.components]


@pytest.mark.long  # tests/components/test_both_captures.py reads a broker's topics, too
def test_every_snapshot_out_of_kafka_is_the_state_at_its_boundary(
    spark: SparkSession, tmp_path: Path, kafka_server: Kafka
) -> None:
    history, settings = ShardedHistory(7, changes=30), Settings.at(tmp_path / "data")
    registry = SnapshotRegistry.at(settings.state_db)
    intake = KafkaIntake(Broker(kafka_server.bootstrap_servers), pass_records=600)
    sent = dict.fromkeys(history.streams, 0)
    for name in history.streams:
        kafka_server.create_topic(f"cdc.{name}")
    for share in (0.4, 1.0):
        for name, stream in history.streams.items():
            end = int(len(stream.lines) * share)
            publish(kafka_server, stream, sent[name], end)
            sent[name] = end
        # A process that was just started: it knows what the tables' commits say.
        Ingestion(spark, settings, [ORDERS], registry, intake).step()
    check(spark, settings, history, registry.of("ods_orders"))
    assert Ingestion(spark, settings, [ORDERS], registry, intake).step().commits == 0


def test_dropped_records_and_wrong_topics_are_said(kafka_server: Kafka) -> None:
    broker, stream = Broker(kafka_server.bootstrap_servers), Stream("lost")
    kafka_server.create_topic("cdc.lost")
    stream.declare("users", USERS, at("2026-03-23 09:00"))
    for number in range(5):
        stream.heartbeat(at(f"2026-03-23 10:0{number}"))
    publish(kafka_server, stream)
    admin = AdminClient({"bootstrap.servers": kafka_server.bootstrap_servers, "log_level": 3})
    for dropped in admin.delete_records([TopicPartition("cdc.lost", 0, 3)]).values():
        dropped.result(30)
    assert isinstance(KafkaIntake(broker).due({"lost": 2}, {}, 1).problems["lost"], OffsetsLostError)
    with pytest.raises(TopicMissingError, match=r"the topic cdc\.nobody"):
        broker.bounds(["cdc.nobody"])
    kafka_server.create_topic("cdc.two", partitions=2)
    with pytest.raises(TopicPartitionsError, match="found 2 partitions"):
        broker.bounds(["cdc.two"])


def test_a_recreated_topic_has_another_id(kafka_server: Kafka) -> None:
    broker = Broker(kafka_server.bootstrap_servers)
    admin = AdminClient({"bootstrap.servers": kafka_server.bootstrap_servers, "log_level": 3})
    ids = []
    for _ in range(2):
        kafka_server.create_topic("cdc.anew")
        ids.append(broker.bounds(["cdc.anew"])["cdc.anew"].topic_id)
        for deleted in admin.delete_topics(["cdc.anew"]).values():
            deleted.result(30)
        # Deleting goes on after the answer.
        while isinstance(broker.look(["cdc.anew"])["cdc.anew"], Bounds):
            time.sleep(0.1)
    assert all(ids)
    assert ids[0] != ids[1]
