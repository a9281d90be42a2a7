"""A broker with TLS and passwords: each client of ours gets in by the environment, and by nothing less."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.components.availability import KAFKA, require
from tests.components.secure_kafka import SecureKafka, secure_kafka
from tidemark.capture.operations.preflight.broker import broker
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.errors import BrokerDownError
from tidemark.console.servers.jars import jars
from tidemark.system.kafka_client import KafkaSecurity, librdkafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.components, pytest.mark.long]

TOPIC = "cdc.tide"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    require(KAFKA)
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    with secure_kafka(jars(), tmp_path_factory.mktemp("secure")) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        _fill(running.bootstrap_servers)
        yield running


@pytest.fixture
def environment(secured: SecureKafka, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """With all that is needed to get in; a test takes something away."""
    for name, value in secured.environment.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def _fill(servers: str) -> None:
    admin = AdminClient({**librdkafka(servers), "log_level": 0})
    for created in admin.create_topics([NewTopic(TOPIC, 1, 1)]).values():
        created.result(60)
    producer = Producer({**librdkafka(servers), "log_level": 0})
    for number in range(3):
        producer.produce(TOPIC, value=str(number))
    assert producer.flush(60) == 0


def test_offsets_are_asked_with_the_password(secured: SecureKafka, environment: pytest.MonkeyPatch) -> None:
    assert environment
    bounds = Broker(secured.bootstrap_servers, 60.0).bounds([TOPIC])[TOPIC]
    assert bounds == Bounds(0, 3, bounds.topic_id)
    assert bounds.topic_id
    assert {finding.verdict for finding in broker(secured.bootstrap_servers, ["tide"], 60.0)} == {"ok"}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TIDEMARK_KAFKA_PASSWORD", "another"),
        ("TIDEMARK_KAFKA_CA", ""),
    ],
)
def test_a_client_needs_the_password_and_the_authority(
    secured: SecureKafka, environment: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    environment.setenv(variable, value)
    with pytest.raises(BrokerDownError):
        Broker(secured.bootstrap_servers, 5.0).bounds([TOPIC])


@pytest.mark.spark
def test_spark_reads_with_the_same_settings(
    secured: SecureKafka, environment: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    assert environment
    options = {"kafka.bootstrap.servers": secured.bootstrap_servers, **KafkaSecurity.load().java("kafka.")}
    messages = spark.read.format("kafka").options(**options, subscribe=TOPIC).load()
    values = messages.selectExpr("cast(value as string) AS value").orderBy("offset").collect()
    assert [row.value for row in values] == ["0", "1", "2"]
