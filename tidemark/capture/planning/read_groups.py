"""Which tables are read together: those that are level. One that lags is read by itself, and holds up no other.

All tables of an instance share its topic, so tables at about the same offset are read once for all. One that was added
today, loaded anew or stopped for a while would have the others' records read again and again from where it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tidemark.capture.source_table import SourceTable

WIDTH: Final = 100_000
"""Records that the offsets of two tables of one group may be apart: a fraction of what a pass reads."""
LAGGING_SHARE: Final = 0.1
"""Of a pass, for those that lag while the others have records to take in."""
AGAIN_SHARE: Final = 0.01
"""Of a pass, for those that stopped in the step before: it shows whether they go on now."""

Offsets = Mapping[str, Mapping[str, int]]
"""Table -> instance -> next offset."""


@dataclass
class _Group:
    tables: list[SourceTable] = field(default_factory=list)
    newest: dict[str, int] = field(default_factory=dict)

    def takes(self, offsets: Mapping[str, int], width: int) -> bool:
        """Whether a table is near enough on each instance that it shares with the group."""
        return all(abs(self.newest.get(name, offset) - offset) <= width for name, offset in offsets.items())

    def add(self, table: SourceTable, offsets: Mapping[str, int]) -> None:
        self.tables.append(table)
        self.newest |= {name: max(offset, self.newest.get(name, offset)) for name, offset in offsets.items()}


def read_groups(tables: Sequence[SourceTable], offsets: Offsets, width: int = WIDTH) -> list[tuple[SourceTable, ...]]:
    """The groups, the one that is furthest first; tables of a group are in the order of `tables`."""
    groups: list[_Group] = []
    for table in sorted(tables, key=lambda source: -sum(offsets[source.name].values())):
        group = next((group for group in groups if group.takes(offsets[table.name], width)), None)
        if group is None:
            group = _Group()
            groups.append(group)
        group.add(table, offsets[table.name])
    return [tuple(table for table in tables if table in group.tables) for group in groups]
