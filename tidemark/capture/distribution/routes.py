"""The topic and partition that each physical table's changes go to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import Formatter
from typing import Final
from zlib import crc32

from tidemark.capture.distribution.errors import SharedTopicError, TopicPatternError
from tidemark.capture.heartbeat.heartbeat_record import TABLE as HEARTBEAT
from tidemark.capture.physical_tables_claimed_twice import shared_tables
from tidemark.capture.source_table import SourceTable

TOPICS: Final = "tables.{table}"
_FIELDS: Final = frozenset({"table", "entity"})
_MOST_KNOWN: Final = 100_000
_LONGEST_KNOWN: Final = 200
"""Limits on remembered tables: their number, and the length of a name. A record may contain any name."""
_MOST_NAMES: Final = 100
"""The most tables of one statement that get a copy each. A record of 1 MB could name a hundred thousand."""
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True)
class Target:
    """The destination of one message; `key` is the instance and its physical table."""

    topic: str
    partition: int
    key: bytes


def logical_topic(table: SourceTable, pattern: str = TOPICS) -> str:
    """The topic of a logical table: `tables.school.orders` for `school.orders_*` of all instances.

    In `pattern`, `{table}` is the physical name without its shard, and `{entity}` the logical table's own name.
    """
    return pattern.format(table=table.shards.base, entity=table.name)


class Routes:
    """The targets of every physical table; `partitions` has the number of partitions of each logical topic.

    A physical table stays in one partition as long as its topic's number of partitions stays.
    """

    def __init__(self, tables: Sequence[SourceTable], partitions: Mapping[str, int], pattern: str = TOPICS) -> None:
        self._tables = tuple(tables)
        self._partitions = partitions
        self._pattern = pattern
        self._known: dict[tuple[str, str], tuple[Target, ...]] = {}

    def targets(self, instance: str, physical: str) -> tuple[Target, ...]:
        """The targets: one for a change, none for an unrouted table.

        A heartbeat goes to every partition that has the instance's tables. A statement about several tables
        (`school.orders_0,orders_1`) goes to each table's target. With very many tables it is sent like a heartbeat.
        """
        shard = (instance, physical)
        targets = self._known.get(shard)
        if targets is None:
            targets = self._make(instance, physical)
            self._remember(shard, targets)
        return targets

    def _remember(self, shard: tuple[str, str], targets: tuple[Target, ...]) -> None:
        if len(shard[1]) > _LONGEST_KNOWN:
            return
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[shard] = targets

    def _make(self, instance: str, physical: str) -> tuple[Target, ...]:
        database, _, names = physical.rpartition(".")
        if names == HEARTBEAT:
            return self._everywhere(instance, physical)
        tables = [physical] if "," not in names else [physical, *(f"{database}.{name}" for name in names.split(","))]
        if len(tables) > _MOST_NAMES:
            return self._everywhere(instance, database[:_LONGEST_KNOWN])
        return tuple(target for name in dict.fromkeys(tables) for target in self._of_table(instance, name))

    def _everywhere(self, instance: str, physical: str) -> tuple[Target, ...]:
        topics = dict.fromkeys(self._topic(table) for table in self._tables if instance in table.instances)
        key = _key(instance, physical)
        return tuple(Target(topic, number, key) for topic in topics for number in range(self._partitions[topic]))

    def _of_table(self, instance: str, physical: str) -> tuple[Target, ...]:
        topics = (self._topic(table) for table in self._tables if table.holds(instance, physical))
        key = _key(instance, physical)
        return tuple(Target(topic, crc32(key) % self._partitions[topic], key) for topic in topics)

    def _topic(self, table: SourceTable) -> str:
        return logical_topic(table, self._pattern)


def _key(instance: str, physical: str) -> bytes:
    return f"{instance}.{physical}".encode()


def check_tables(tables: Sequence[SourceTable], pattern: str = TOPICS) -> None:
    """Check that every physical table has one logical table, and every logical table a topic of its own.

    Raises SharedPhysicalTableError, SharedTopicError, and TopicPatternError if the pattern does not give valid names.
    """
    _check_pattern(tables, pattern)
    for shared in shared_tables(tables):
        raise shared
    for table, other in combinations(tables, 2):
        if logical_topic(table, pattern) == logical_topic(other, pattern):
            raise SharedTopicError.of(logical_topic(table, pattern), (table.name, other.name))


def _check_pattern(tables: Sequence[SourceTable], pattern: str) -> None:
    try:
        fields = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        raise TopicPatternError.of(pattern, str(error)) from error
    if not fields or fields - _FIELDS:
        raise TopicPatternError.of(pattern, f"fields {', '.join(sorted(fields)) or 'none'}")
    for table in tables:
        topic = logical_topic(table, pattern)
        if not _LEGAL.fullmatch(topic):
            raise TopicPatternError.of(pattern, f"the topic {topic!r}, which Kafka does not allow, for {table.name}")
