"""Physical tables that two logical ones claim."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from tidemark.capture.errors import SharedPhysicalTableError
from tidemark.capture.source_table import SourceTable


def shared_tables(tables: Sequence[SourceTable]) -> Iterator[SharedPhysicalTableError]:
    """An error, not raised, for each two tables and instance that some physical table may belong to."""
    for table, other in combinations(tables, 2):
        physical = next((name for name in (_example(table), _example(other)) if _both(table, other, name)), None)
        if physical is not None:
            for instance in sorted({*table.instances} & {*other.instances}):
                yield SharedPhysicalTableError.of(physical, instance, (table.name, other.name))


def _example(table: SourceTable) -> str:
    return table.table.removesuffix("_*") + "_0" if table.table.endswith("_*") else table.table


def _both(first: SourceTable, other: SourceTable, physical: str) -> bool:
    return all(re.fullmatch(table.regex, physical) for table in (first, other))
