"""A logical table of the source: its shards, its columns, and the snapshots to tag."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tidemark.capture.heartbeat.idle_or_broken import USUAL, Threshold
from tidemark.capture.shard_pattern import ShardPattern
from tidemark.dependency_model.time import Calendar


class CountedRows(NamedTuple):
    """Rows are counted by the minute of `column`, from minute `first` on.

    Minutes are since 1970 on the column's clock.
    """

    column: str
    first: int


@dataclass(frozen=True)
class SourceTable:
    """A logical table `table`: `school.users`, or `school.orders_*` for its numbered shards, on each of `instances`.

    - `key`: the source's primary key.
    - `partition_by`: the column that partitions the Delta table.
    - `snapshot_series`: (entity, period, first slice). From the first slice on, a snapshot is tagged for the entity at
      the end of every slice.
    - `threshold`: when a silent table counts as idle, and a silent instance as broken.
    - `restated`: entities whose tagged snapshots are restated for late changes.
    - `lateness`: by entity, how long a snapshot waits for late changes after the slice's end, in ms of event time.
    - `kept`: by entity, how many tags are kept. Other entities keep all their tags.
    - `audited`: entities whose versions are tagged only after a run has checked the blocking rules.
    - `excluded`: source columns, in lower case, that the lake does not get.
    - `calendars`: the local clocks of the entities.
    - `is_loaded_first`: a table that is not captured yet begins with an initial load.
    - `first_offsets`: without an initial load, the first offset to read in the topic of each instance.
    - `counted`: each commit records how many rows its changes add, by minute.
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
        """The pattern of the physical names `<database>.<table>` of its shards."""
        return ShardPattern.parse(self.table)

    def calendar_of(self, entity: str, default: Calendar) -> Calendar:
        """The calendar that cuts the entity's slices."""
        return self.calendars.get(entity, default)

    def holds(self, instance: str, physical: str) -> bool:
        """Whether `physical` (`school.orders_0`) of `instance` is a shard of this table."""
        return instance in self.instances and self.shards.matches(physical)


def topic_of(instance: str) -> str:
    """The topic with all changes of a database instance, in the order of its binlog."""
    return f"cdc.{instance}"


def instances_of(tables: Iterable[SourceTable]) -> tuple[str, ...]:
    """The database instances of the tables, sorted."""
    return tuple(sorted({instance for table in tables for instance in table.instances}))
