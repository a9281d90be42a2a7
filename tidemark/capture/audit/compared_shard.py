"""The columns of a shard that are compared, and their SQL on both sides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from tidemark.capture.audit.audited_range import is_ordered
from tidemark.capture.audit.canonical_text import ColumnText, PhysicalColumn, column_text, is_comparable, row_texts
from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.source_types import INTEGERS
from tidemark.capture.schema.table_columns import TableColumns


@dataclass(frozen=True)
class ComparedShard:
    """The compared `columns`, key columns first; `first` is the key's first column at the source and in the lake.

    `first` is None if a range of it would not hold the same rows on both sides.
    """

    key: tuple[ColumnText, ...]
    columns: tuple[ColumnText, ...]
    first: tuple[PhysicalColumn, SourceColumn] | None

    @classmethod
    def of(cls, lake: TableColumns, key: Sequence[str], physical: Sequence[PhysicalColumn]) -> Self | None:
        """The columns that both sides have and print alike; None if a key column is not among them."""
        there = {column.name.lower(): column for column in physical}
        both = {
            column.name: (there[column.source_name.lower()], column)
            for column in lake.lake
            if column.source_name.lower() in there
            and is_comparable(column, there[column.source_name.lower()], in_key=column.name in key)
        }
        if not all(name in both for name in key):
            return None
        in_key = [column_text(both[name][1], both[name][0], in_key=True) for name in key]
        others = [column_text(column, printed_as) for name, (printed_as, column) in both.items() if name not in key]
        first = both[key[0]]
        return cls(tuple(in_key), (*in_key, *others), first if is_ordered(first[1]) else None)

    @cached_property
    def key_texts(self) -> tuple[str, str]:
        """SQL of the key at the source and in the lake."""
        return row_texts(self.key)

    @cached_property
    def row_texts(self) -> tuple[str, str]:
        """SQL of the row, its key first, at the source and in the lake."""
        return row_texts(self.columns)

    def first_values(self, keys: Iterable[str]) -> tuple[int, ...]:
        """The distinct values of the key's first column in key texts, sorted; empty if it is not an integer."""
        if self.first is None or self.first[1].source_type.word not in INTEGERS:
            return ()
        return tuple(sorted({int(key.split(",", 1)[0]) for key in keys}))

    def differing_columns(self, source: str, lake: str) -> tuple[str, ...]:
        """The columns in which the texts of two rows differ."""
        values = zip(self.columns, source.split(","), lake.split(","), strict=True)
        return tuple(column.name for column, at_source, in_lake in values if at_source != in_lake)


Shards = Mapping[str, ComparedShard]
