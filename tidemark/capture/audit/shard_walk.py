"""The ranges of a cycle in order: all shards of all tables whose database has an address."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.capture.audit.audited_range import AuditedRange, Patch
from tidemark.capture.audit.compared_shard import ComparedShard
from tidemark.capture.audit.cursor import AuditCursor
from tidemark.capture.audit.errors import AuditRefusedError, SlowRangeError
from tidemark.capture.commits.commit_state import last_commit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tidemark.capture.audit.source_reader import SourceReader
    from tidemark.capture.schema.table_columns import TableColumns
    from tidemark.capture.source_table import SourceTable
    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class AuditedShard:
    """A shard (`a.school.orders_3`) with an estimate of its `rows`; `columns` are those at preparation."""

    source: SourceTable
    name: str
    rows: int
    columns: TableColumns
    compared: ComparedShard


@dataclass(frozen=True)
class RangeStep:
    """A range to look at, and the cursor behind it."""

    shard: AuditedShard
    patch: Patch
    behind: AuditCursor


class ShardWalk:
    """One cycle through the shards, with about `rows` source rows in each range."""

    def __init__(
        self, sources: Sequence[SourceTable], readers: Mapping[str, SourceReader], warehouse: TableLocation, rows: int
    ) -> None:
        self._sources, self._readers, self._warehouse, self._rows = sources, readers, warehouse, rows

    def names(self) -> list[tuple[SourceTable, str, int]]:
        """All shards in the order of the walk, with an estimate of their rows."""
        there = {instance: reader.tables() for instance, reader in self._readers.items()}
        return [
            (source, f"{instance}.{physical}", rows)
            for source in self._sources
            for instance in source.instances
            for physical, rows in sorted(there.get(instance, {}).items())
            if source.shards.matches(physical)
        ]

    def steps(self, start: AuditCursor, pass_over: Callable[[str, str], None]) -> Iterator[RangeStep]:
        """The steps from `start` on. Calls `pass_over` with each shard that cannot be compared, and the reason."""
        names = self.names()
        known = [name for _, name, _ in names]
        at = known.index(start.shard) if start.shard in known else 0
        cursor = start if start.shard in known else AuditCursor()
        for source, name, rows in names[at + cursor.is_behind :]:
            shard = self.prepared(source, name, rows)
            if isinstance(shard, str):
                pass_over(name, shard)
                continue
            try:
                yield from self._ranges(shard, cursor if cursor.shard == name else AuditCursor(source.name, name))
            except (AuditRefusedError, SlowRangeError) as error:
                pass_over(name, str(error.found))

    def prepared(self, source: SourceTable, name: str, rows: int = 0) -> AuditedShard | str:
        """A shard with its compared columns, or the reason why it cannot be compared."""
        last = last_commit(self._warehouse / source.name)
        if last is None:
            return "its table is not in the lake yet"
        if name in last.state.initial_load_pending:
            return "its rows are being loaded"
        instance, _, physical = name.partition(".")
        compared = ComparedShard.of(last.state.columns, source.key, self._readers[instance].columns(physical))
        if compared is None:
            return f"its key {', '.join(source.key)} has a type that cannot be compared"
        return AuditedShard(source, name, rows, last.state.columns, compared)

    def _ranges(self, shard: AuditedShard, start: AuditCursor) -> Iterator[RangeStep]:
        if shard.compared.first is None:
            yield from self._slices(shard, start)
            return
        instance, _, physical = shard.name.partition(".")
        low, goes_on = start.low, True
        while goes_on:
            high = self._readers[instance].next_bound(physical, shard.compared, low, self._rows)
            patch = Patch(shard.source.name, shard.name, AuditedRange(low, high))
            yield RangeStep(shard, patch, AuditCursor(shard.source.name, shard.name, high, is_behind=high is None))
            low, goes_on = high, high is not None

    def _slices(self, shard: AuditedShard, start: AuditCursor) -> Iterator[RangeStep]:
        """Steps by slice.

        Each one reads the whole shard at the source, because both sides order the key differently.
        """
        slices = max(1, math.ceil(shard.rows / self._rows))
        for number in range(min(start.slice_, slices - 1), slices):
            patch = Patch(shard.source.name, shard.name, AuditedRange(slice_=number, slices=slices))
            behind = AuditCursor(shard.source.name, shard.name, None, number + 1, is_behind=number + 1 == slices)
            yield RangeStep(shard, patch, behind)
