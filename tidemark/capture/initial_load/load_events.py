"""Where a topic says that a table's rows are missing, and where that they are all there."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple


class LoadEvent(NamedTuple):
    """At `offset` of its instance's topic a physical table (`school.orders_3`) was found with rows of an initial load.

    Or, where `is_loaded`, all those rows have come.
    """

    instance: str
    offset: int
    physical: str
    is_loaded: bool

    @property
    def shard(self) -> str:
        """`a.school.orders_3`."""
        return f"{self.instance}.{self.physical}"


class Missing(NamedTuple):
    """Rows of `shard` are missing in the state before an offset `start < offset <= end`; `end` None: up to now."""

    shard: str
    start: int
    end: int | None

    def holds(self, offset: int) -> bool:
        """Whether the state before that offset lacks them."""
        return self.start < offset and (self.end is None or offset <= self.end)


def missing(instance: str, before: Collection[str], events: Iterable[LoadEvent]) -> tuple[Missing, ...]:
    """Where an instance's topic lacks rows of shards; `before` are those that lacked them before what was read."""
    open_ = {shard: -1 for shard in before if shard.startswith(f"{instance}.")}
    gaps = []
    for event in sorted(event for event in events if event.instance == instance):
        if not event.is_loaded:
            open_.setdefault(event.shard, event.offset)
        elif event.shard in open_:
            gaps.append(Missing(event.shard, open_.pop(event.shard), event.offset))
    return (*gaps, *(Missing(shard, start, None) for shard, start in sorted(open_.items())))


def pending_loads_at(before: Collection[str], events: Iterable[LoadEvent], ends: Mapping[str, int]) -> tuple[str, ...]:
    """The shards that lack rows before the offsets `ends` (per instance); `before` as in `missing`."""
    lacking = set(before)
    for event in sorted(events):
        if event.offset < ends.get(event.instance, 0):
            (lacking.discard if event.is_loaded else lacking.add)(event.shard)
    return tuple(sorted(lacking))
