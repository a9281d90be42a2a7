"""The places of a topic where rows of a table begin to be missing, and where all of them have arrived."""

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
    """At `offset` a physical table (`school.orders_3`) was found to have rows of an initial load.

    With `is_loaded`, all these rows have arrived. `place` is where the connector goes on reading the binlog.
    """

    instance: str
    offset: int
    physical: str
    is_loaded: bool
    place: BinlogPlace | None = None

    @property
    def shard(self) -> str:
        """The shard: `a.school.orders_3`."""
        return f"{self.instance}.{self.physical}"


class LoadEnd(NamedTuple):
    """At `offset` the connector reports that a load has read a physical table.

    `load` is the id of the last signal that the connector took. If the load found no rows (`is_empty`), the record of
    the signal itself may come after this one.
    """

    instance: str
    offset: int
    physical: str
    load: str
    is_empty: bool

    @property
    def shard(self) -> str:
        """The shard: `a.school.orders_3`."""
        return f"{self.instance}.{self.physical}"


class FailedLoad(NamedTuple):
    """At `offset` the connector gave a load up, with Debezium's `SQL_EXCEPTION` or a similar status."""

    instance: str
    offset: int
    physical: str
    status: str

    def warning(self, table: str) -> str:
        """The warning: the failure, and what to do."""
        shard = f"{self.instance}.{self.physical}"
        return (
            f"{shard}: its load in the connector ended with {self.status} (offset {self.offset}): "
            f"see its log, restart it, then tidemark capture reload {table} --shard {shard} --again"
        )


class LoadRequest(NamedTuple):
    """At `offset` a load of tables was requested; with `is_partial`, of some rows only.

    `load` is the id of the signal.
    """

    instance: str
    offset: int
    tables: tuple[str, ...]
    is_partial: bool
    load: str = ""

    def asks_for(self, physical: str) -> bool:
        """Whether the request has that physical table, by its name or a pattern."""
        return physical in self.tables or any(_matches(pattern, physical) for pattern in self._patterns)

    @property
    def _patterns(self) -> list[str]:
        """The entries that are not plain names, such as `database.table` with an escaped dot."""
        return [name for name in self.tables if not _NAME.fullmatch(name)][:_MOST_PATTERNS]


def parse_load_request(instance: str, offset: int, data: str, load: str = "") -> LoadRequest:
    """The request in a signal's `data`; without tables if it cannot be read."""
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
    """Whether a pattern matches, by RE2. It takes linear time; Python's `re` may never end on a record's pattern."""
    try:
        is_match = pc.match_substring_regex(pa.scalar(physical), pattern=f"^(?:{pattern})$")
    except pa.ArrowInvalid:
        return False
    return bool(is_match.as_py())


class Missing(NamedTuple):
    """Rows of `shard` are missing in the state before an offset in `start < offset <= end`. `end` None: up to now."""

    shard: str
    start: int
    end: int | None

    def holds(self, offset: int) -> bool:
        """Whether the state before that offset lacks the rows."""
        return self.start < offset and (self.end is None or offset <= self.end)


def missing(instance: str, before: Collection[str], events: Iterable[LoadEvent]) -> tuple[Missing, ...]:
    """The spans in which an instance's topic lacks rows. `before` has the shards that lacked rows before the events."""
    open_ = {shard: -1 for shard in before if shard.startswith(f"{instance}.")}
    gaps = []
    for event in sorted(event for event in events if event.instance == instance):
        if not event.is_loaded:
            open_.setdefault(event.shard, event.offset)
        elif event.shard in open_:
            gaps.append(Missing(event.shard, open_.pop(event.shard), event.offset))
    return (*gaps, *(Missing(shard, start, None) for shard, start in sorted(open_.items())))


def pending_loads_at(before: Collection[str], events: Iterable[LoadEvent], ends: Mapping[str, int]) -> tuple[str, ...]:
    """The shards that lack rows before the offsets `ends` (by instance); `before` is as in `missing`."""
    lacking = set(before)
    for event in sorted(events):
        if event.offset < ends.get(event.instance, 0):
            (lacking.discard if event.is_loaded else lacking.add)(event.shard)
    return tuple(sorted(lacking))
