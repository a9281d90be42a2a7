"""The Kafka fixture gives a broker that keeps records of the past."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

if TYPE_CHECKING:
    from tidemark.console.servers.kafka import Kafka


@pytest.mark.components
def test_records_of_a_topic_come_back_in_order_whatever_their_time(kafka_server: Kafka) -> None:
    kafka_server.create_topic("tide")
    settings = {"bootstrap.servers": kafka_server.bootstrap_servers, "log_level": 3}
    producer = Producer(settings)
    for number in range(5):
        producer.produce("tide", value=str(number), timestamp=1_774_220_400_000 - number)
    assert producer.flush(30) == 0

    with closing(Consumer({**settings, "group.id": "reader"})) as consumer:
        consumer.assign([TopicPartition("tide", 0, 0)])
        messages = [consumer.poll(30) for _ in range(5)]
    assert [message.value() for message in messages if message is not None] == [b"0", b"1", b"2", b"3", b"4"]
