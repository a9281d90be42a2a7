"""Checks Kafka: it answers, and the instances' topics keep every change in the binlog's order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

from tidemark.capture.operations.preflight.binlog import SHORTEST
from tidemark.capture.source_table import topic_of
from tidemark.system.check_finding import Finding
from tidemark.system.kafka_client import librdkafka

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_VARIABLE: Final = "TIDEMARK_KAFKA"


def broker(servers: str, instances: Sequence[str], seconds: float = 10.0) -> list[Finding]:
    """Whether each instance's topic exists with the right settings; `seconds` is the timeout."""
    subject = f"Kafka {servers}"
    try:
        admin = AdminClient({**librdkafka(servers), "log_level": 0})
        partitions = {name: len(topic.partitions) for name, topic in admin.list_topics(timeout=seconds).topics.items()}
        there = [name for name in map(topic_of, instances) if name in partitions]
        settings = _settings(admin, there, seconds)
    except (KafkaException, TimeoutError) as error:
        said = error.args[0].str() if isinstance(error, KafkaException) else f"no answer within {seconds:.0f} s"
        return [Finding(subject, "unreachable", said, f"start it, or correct {_VARIABLE}")]
    findings = [
        entry
        for name in map(topic_of, instances)
        for entry in topic(name, partitions.get(name), settings.get(name, {}))
    ]
    return [Finding(subject, "ok", f"answers, {len(partitions)} topics"), *findings]


def _settings(admin: AdminClient, topics: Sequence[str], seconds: float) -> dict[str, dict[str, str]]:
    if not topics:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    answers: Mapping[Any, Any] = admin.describe_configs(resources, request_timeout=seconds)
    return {
        resource.name: {name: str(entry.value) for name, entry in answer.result(seconds).items()}
        for resource, answer in answers.items()
    }


def topic(name: str, partitions: int | None, settings: Mapping[str, str]) -> list[Finding]:
    """The findings about an instance's topic; `partitions` is None if there is no such topic."""
    subject = f"topic {name}"
    if partitions is None:
        to_do = (
            f"start the instance's connector and create the topic with one partition, or correct {_VARIABLE} or "
            "`instances` in the entities' sources"
        )
        return [Finding(subject, "problem", "no such topic", to_do)]
    if partitions != 1:
        to_do = "create it again with one partition, and let the connector send everything again"
        return [Finding(subject, "problem", f"{partitions} partitions keep no order between them", to_do)]
    if "compact" in settings.get("cleanup.policy", ""):
        to_do = "set cleanup.policy=delete, and load the instance's tables again"
        return [Finding(subject, "problem", "compacted: only the last change of each row stays", to_do)]
    return [_retention_finding(subject, int(settings.get("retention.ms", -1)))]


def _retention_finding(subject: str, retention_ms: int) -> Finding:
    if retention_ms < 0:
        return Finding(subject, "ok", "one partition, messages are kept")
    kept = timedelta(milliseconds=retention_ms)
    if kept >= SHORTEST:
        return Finding(subject, "ok", f"one partition, messages are kept for {kept}")
    problem = f"messages are kept for {kept}: changes are lost if they are not read for longer"
    return Finding(subject, "warning", problem, f"set retention.ms to {SHORTEST.days} days or more, or to -1")
