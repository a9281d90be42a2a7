"""Finds physical tables that two logical tables claim."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from tidemark.capture.errors import SharedPhysicalTableError
from tidemark.capture.source_table import SourceTable


def shared_tables(tables: Sequence[SourceTable]) -> Iterator[SharedPhysicalTableError]:
    """Yields, without raising it, an error for each instance where two logical tables claim a physical one."""
    for table, other in combinations(tables, 2):
        physical = table.shards.overlaps(other.shards)
        if physical is not None:
            for instance in sorted({*table.instances} & {*other.instances}):
                yield SharedPhysicalTableError.of(physical, instance, (table.name, other.name))
