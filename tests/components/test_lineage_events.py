"""Run events on a real Kafka: each is there once its call returns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer

from tests.lineage_events.world import LineageWorld, client_with
from tidemark.lineage_events.confirmed_kafka import with_confirmation
from tidemark.lineage_events.emitter import LineageEmitter

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

pytestmark = pytest.mark.components


def test_events_are_in_the_topic(kafka_server: Kafka, tmp_path: Path) -> None:
    world = LineageWorld(tmp_path)
    world.emitter.send_due()
    world.launch()
    kafka_server.create_topic("lineage")
    servers = {"bootstrap.servers": kafka_server.bootstrap_servers}
    config = {"transport": {"type": "kafka", "topic": "lineage", "config": servers}}
    emitter = LineageEmitter(world.warehouse, world.store, {}, lambda: with_confirmation(client_with(config)))
    assert emitter.send_due() == 1
    consumer = Consumer({**servers, "group.id": "reader", "auto.offset.reset": "earliest"})
    consumer.subscribe(["lineage"])
    try:
        message = next(got for _ in range(60) if (got := consumer.poll(1.0)) is not None and got.error() is None)
    finally:
        consumer.close()
    event = json.loads(message.value() or b"")
    assert (event["eventType"], event["job"]["name"]) == ("START", "sales")
