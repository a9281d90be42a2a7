"""The topics of the logical tables against those of the instances: each message once, in order per physical table.

And what the instances' topics hold: every change that a position of a binlog stands for, told from a redelivered one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.capture.distribution.reading import messages_of
from tests.capture.distribution.stream import PARTITIONS
from tests.components.chain.tables import DATABASE, sources
from tidemark.capture.distribution.routes import logical_topic
from tidemark.capture.distribution.topic_reader import GROUP

if TYPE_CHECKING:
    from collections.abc import Iterable

HEARTBEAT: Final = f"{DATABASE}.heartbeat"


@dataclass
class Chain:
    """Messages one after the other: how many, and a hash of them in their order."""

    count: int = 0
    digest: bytes = b""

    def add(self, value: bytes) -> None:
        self.count += 1
        self.digest = blake2b(self.digest + value, digest_size=16).digest()


@dataclass
class Came:
    """Of an instance's topic: by physical table its messages, and the changes that came for the first time."""

    chains: dict[str, Chain] = field(default_factory=lambda: defaultdict(Chain))
    changes: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    loaded: Counter[str] = field(default_factory=Counter)
    again: int = 0
    _reached: tuple[Any, ...] = ()

    def add(self, value: bytes | None) -> None:
        """A message in the order of the topic."""
        self.messages += 1
        if value is None:
            return
        change = json.loads(value)
        if "source" not in change:
            return  # a notification of a load
        source = change["source"]
        physical = f"{source['db']}.{source['table']}"
        # A statement about several tables (RENAME a TO b, c TO a) goes where each of them goes.
        for name in str(source["table"]).split(","):
            self.chains[f"{source['db']}.{name}"].add(value)
        # A TRUNCATE is a record of its own and changes no one row.
        if change.get("op", "t") != "t":
            # A key that moves is a delete and an insert at one position.
            position = (source["file"], source["pos"], source["row"], change["op"] == "c")
            if source.get("snapshot") == "incremental":
                self.loaded[physical] += 1
            elif position > self._reached:
                self._reached = position
                self.changes[physical] += 1
            else:
                self.again += 1


def came(servers: str, topic: str) -> Came:
    """All that a connector sent."""
    came = Came()
    for message in messages_of(servers, topic, 1):
        came.add(message.value())
    return came


def waiting(servers: str, names: Iterable[str]) -> int:
    """How many messages the distribution has not sent on; -1 while nobody says."""
    places = [TopicPartition(name, 0) for name in names]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": GROUP, "log_level": 0})
    try:
        ends = [consumer.get_watermark_offsets(place, 30)[1] for place in places]
        done = consumer.committed(places, timeout=60)
        return sum(end - max(0, position.offset) for end, position in zip(ends, done, strict=True))
    except KafkaException:
        return -1
    finally:
        consumer.close()


def problems(servers: str, instances: dict[str, Came]) -> list[str]:
    """What the logical topics have otherwise."""
    problems: list[str] = []
    for source in sources():
        topic = logical_topic(source)
        sent = _sent(servers, topic)
        for instance, came_ in instances.items():
            for physical, chain in came_.chains.items():
                wanted = PARTITIONS if physical == HEARTBEAT else 1 if source.holds(instance, physical) else 0
                places = sent.pop(f"{instance}.{physical}", {})
                if len(places) != wanted or any(other != chain for other in places.values()):
                    counts = {partition: other.count for partition, other in places.items()}
                    problems.append(f"{topic} {instance}.{physical}: {counts} by partition instead of {chain.count}")
        problems += [f"{topic}: {key} is of no instance" for key in sent]
    return problems


def _sent(servers: str, topic: str) -> dict[str, dict[int, Chain]]:
    """By key and partition."""
    chains: dict[str, dict[int, Chain]] = defaultdict(lambda: defaultdict(Chain))
    for message in messages_of(servers, topic, PARTITIONS):
        chains[(message.key() or b"").decode()][message.partition() or 0].add(message.value() or b"")
    return chains
