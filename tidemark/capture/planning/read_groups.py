"""Groups of tables that are read together. A table that lags is read separately, and does not delay the others.

All tables of an instance share its topic, so tables at about the same offset are read with one scan. A table that was
added today, loaded again or stopped for a while is far behind. In one group, every pass would read the others' records
again from its offset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tidemark.capture.source_table import SourceTable

WIDTH: Final = 100_000
"""The most records between the offsets of two tables of a group: a fraction of a pass."""
LAGGING_SHARE: Final = 0.1
"""The share of a pass for tables that lag, while the others have records to read."""
AGAIN_SHARE: Final = 0.01
"""The share of a pass for tables that failed in the last step, to test whether they work now."""

Offsets = Mapping[str, Mapping[str, int]]
"""The next offset by table and instance."""


@dataclass
class _Group:
    tables: list[SourceTable] = field(default_factory=list)
    newest: dict[str, int] = field(default_factory=dict)

    def takes(self, offsets: Mapping[str, int], width: int) -> bool:
        """Whether a table is close enough to the group on every instance that they share."""
        return all(abs(self.newest.get(name, offset) - offset) <= width for name, offset in offsets.items())

    def add(self, table: SourceTable, offsets: Mapping[str, int]) -> None:
        self.tables.append(table)
        self.newest |= {name: max(offset, self.newest.get(name, offset)) for name, offset in offsets.items()}


def read_groups(tables: Sequence[SourceTable], offsets: Offsets, width: int = WIDTH) -> list[tuple[SourceTable, ...]]:
    """The groups, the furthest one first. Tables of a group are in the order of `tables`."""
    groups: list[_Group] = []
    for table in sorted(tables, key=lambda source: -sum(offsets[source.name].values())):
        group = next((group for group in groups if group.takes(offsets[table.name], width)), None)
        if group is None:
            group = _Group()
            groups.append(group)
        group.add(table, offsets[table.name])
    return [tuple(table for table in tables if table in group.tables) for group in groups]
