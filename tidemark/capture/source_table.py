"""A logical table of the source: which physical tables are its shards, and which snapshots are tagged of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tidemark.capture.heartbeat.idle_or_broken import USUAL, Threshold
from tidemark.capture.shard_pattern import ShardPattern
from tidemark.dependency_model.time import Calendar


class CountedRows(NamedTuple):
    """Rows are counted by the minute of a `column`, from `first` on: minutes since 1970 on the column's clock."""

    column: str
    first: int


@dataclass(frozen=True)
class SourceTable:
    """`table` is `school.users`, or `school.orders_*` for every `school.orders_<digits>`, on each of `instances`.

    `key` is the source's primary key; `partition_by` the column by which the Delta table is partitioned.
    `snapshot_series` are (entity, period, first slice): at the end of every slice from that one on, a snapshot is
    tagged for that entity. `threshold` tells when a silent table is idle and a silent instance broken. `restated` are
    those of the entities whose snapshots are restated for late changes, `lateness` those that wait for them, and
    until how long after the slice's end (ms of event time), `kept` how many tags those have that do not keep all.
    Versions for the `audited` entities are tagged once a run has judged them by their blocking rules.
    `excluded` are the source's columns, in small letters, that the lake does not get, `calendars` the local clocks of
    the entities. Where nothing of it is captured so far it begins with an initial load (`is_loaded_first`), or at the
    `first_offsets` of the instances' topics. Where rows are `counted`, each commit says how many its changes bring.
    """

    name: str
    table: str
    instances: tuple[str, ...]
    key: tuple[str, ...]
    partition_by: str | None
    snapshot_series: tuple[tuple[str, str, str], ...]
    threshold: Threshold = USUAL
    restated: frozenset[str] = frozenset()
    audited: frozenset[str] = frozenset()
    lateness: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    is_loaded_first: bool = False
    first_offsets: Mapping[str, int] = field(default_factory=dict)
    counted: CountedRows | None = None

    @cached_property
    def shards(self) -> ShardPattern:
        """Which physical names `<database>.<table>` are its shards'."""
        return ShardPattern.parse(self.table)

    def calendar_of(self, entity: str, default: Calendar) -> Calendar:
        """The clock that cuts the entity's slices."""
        return self.calendars.get(entity, default)

    def holds(self, instance: str, physical: str) -> bool:
        """Whether `physical` (`school.orders_0`) of `instance` is a shard of this table."""
        return instance in self.instances and self.shards.matches(physical)


def topic_of(instance: str) -> str:
    """The one topic that carries everything of a database instance in the order of its binlog."""
    return f"cdc.{instance}"


def instances_of(tables: Iterable[SourceTable]) -> tuple[str, ...]:
    """All database instances that the tables live in, in order."""
    return tuple(sorted({instance for table in tables for instance in table.instances}))
