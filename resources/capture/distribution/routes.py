"""Which topic and partition a physical table's changes go to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from zlib import crc32

from resources.capture.distribution.errors import SharedPhysicalTableError
from resources.capture.heartbeat.beat import TABLE as HEARTBEAT
from resources.capture.source import SourceTable

TOPICS = "tables."


@dataclass(frozen=True)
class Target:
    """Where one message goes; `key` is the instance and its physical table."""

    topic: str
    partition: int
    key: bytes


def logical_topic(table: SourceTable) -> str:
    """`tables.school.orders` for all shards `school.orders_<digits>` of all instances."""
    return TOPICS + table.table.removesuffix("_*")


class Routes:
    """The targets of every physical table; `partitions` are those of each logical topic.

    A physical table is in one partition as long as the topic's number of partitions stays.
    """

    def __init__(self, tables: Sequence[SourceTable], partitions: Mapping[str, int]) -> None:
        """Raises SharedPhysicalTableError."""
        check_tables(tables)
        self._tables = tuple(tables)
        self._partitions = partitions
        self._known: dict[tuple[str, str], tuple[Target, ...]] = {}

    def targets(self, instance: str, physical: str) -> tuple[Target, ...]:
        """One for a change; for a heartbeat every partition that has the instance's tables; none for nobody's."""
        one = (instance, physical)
        found = self._known.get(one)
        if found is None:
            found = self._known[one] = self._made(instance, physical)
        return found

    def _made(self, instance: str, physical: str) -> tuple[Target, ...]:
        key = f"{instance}.{physical}".encode()
        if physical.rpartition(".")[2] == HEARTBEAT:
            topics = dict.fromkeys(logical_topic(one) for one in self._tables if instance in one.instances)
            return tuple(Target(topic, number, key) for topic in topics for number in range(self._partitions[topic]))
        topics = dict.fromkeys(logical_topic(one) for one in self._tables if one.holds(instance, physical))
        return tuple(Target(topic, crc32(key) % self._partitions[topic], key) for topic in topics)


def check_tables(tables: Sequence[SourceTable]) -> None:
    """Raise SharedPhysicalTableError when a physical table may belong to two of them."""
    for one, other in combinations(tables, 2):
        for instance in sorted({*one.instances} & {*other.instances}):
            physical = next((name for name in (_example(one), _example(other)) if _both(one, other, name)), None)
            if physical is not None:
                raise SharedPhysicalTableError.of(physical, instance, (one.name, other.name))


def _example(table: SourceTable) -> str:
    return table.table.removesuffix("_*") + "_0" if table.table.endswith("_*") else table.table


def _both(one: SourceTable, other: SourceTable, physical: str) -> bool:
    return all(re.match(table.regex, physical) for table in (one, other))
