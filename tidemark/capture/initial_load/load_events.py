"""Where a topic says that a table's rows are missing, and where that they are all there."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.capture.binlog.position import BinlogPlace
from tidemark.capture.bounded_json import UnreadableJsonError, parse_json

_NAME: Final = re.compile(r"[\w$.-]+")
_LONGEST_NAME: Final = 1_000
_MOST_PATTERNS: Final = 100


class LoadEvent(NamedTuple):
    """At `offset` of its instance's topic a physical table (`school.orders_3`) was found with rows of an initial load.

    Or, where `is_loaded`, all those rows have come. `place` is where the connector goes on reading the binlog.
    """

    instance: str
    offset: int
    physical: str
    is_loaded: bool
    place: BinlogPlace | None = None

    @property
    def shard(self) -> str:
        """`a.school.orders_3`."""
        return f"{self.instance}.{self.physical}"


class LoadEnd(NamedTuple):
    """At `offset` of its instance's topic the connector says that a load has read a physical table.

    `load` is the id of the signal that the connector took last. Where it found no rows (`is_empty`) the record of the
    signal itself may come behind this one.
    """

    instance: str
    offset: int
    physical: str
    load: str
    is_empty: bool

    @property
    def shard(self) -> str:
        """`a.school.orders_3`."""
        return f"{self.instance}.{self.physical}"


class FailedLoad(NamedTuple):
    """At `offset` of its instance's topic the connector gave a load up: Debezium's `SQL_EXCEPTION` and its like."""

    instance: str
    offset: int
    physical: str
    status: str

    def warning(self, table: str) -> str:
        """What happened and what to do."""
        shard = f"{self.instance}.{self.physical}"
        return (
            f"{shard}: the connector ended its load with {self.status} (offset {self.offset}): "
            f"see its log, restart it, then tidemark capture reload {table} --shard {shard} --again"
        )


class LoadRequest(NamedTuple):
    """At `offset` of its instance's topic a load of tables was asked for; where it `is_partial`, of some rows alone.

    `load` is the id of the signal.
    """

    instance: str
    offset: int
    tables: tuple[str, ...]
    is_partial: bool
    load: str = ""

    def asks_for(self, physical: str) -> bool:
        """Whether that physical table is among those; they are named, or matched by patterns."""
        return physical in self.tables or any(_matches(pattern, physical) for pattern in self._patterns)

    @property
    def _patterns(self) -> list[str]:
        """Names that are more than a name, with a dot between database and table or an escaped one."""
        return [name for name in self.tables if not _NAME.fullmatch(name)][:_MOST_PATTERNS]


def parse_load_request(instance: str, offset: int, data: str, load: str = "") -> LoadRequest:
    """The `data` of a signal; one that cannot be read asks for nothing."""
    try:
        request = parse_json(data)
    except UnreadableJsonError:
        request = None
    asked = request if isinstance(request, dict) else {}
    tables = asked.get("data-collections")
    texts = (name for name in tables if isinstance(name, str)) if isinstance(tables, list) else ()
    names = tuple(name for name in texts if len(name) <= _LONGEST_NAME)
    return LoadRequest(instance, offset, names, bool(asked.get("additional-conditions")), load)


def _matches(pattern: str, physical: str) -> bool:
    """By RE2, which takes linear time: a pattern comes from a record, and Python's own search can take for ever."""
    try:
        is_match = pc.match_substring_regex(pa.scalar(physical), pattern=f"^(?:{pattern})$")
    except pa.ArrowInvalid:
        return False
    return bool(is_match.as_py())


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
