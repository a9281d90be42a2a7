"""One of several captures on any hosts that share the instances. Each instance belongs to exactly one of them.

Members hold leases in the state store. Rendezvous hashing over the live members assigns the instances: if a member
joins or leaves, only its own instances move. If two members claim an instance for a moment, the instance's lease keeps
them apart.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from tidemark.capture.operations.ingestion_report import IngestReport
from tidemark.state_store.errors import FencedError
from tidemark.state_store.held_leases import holders_of, taken_number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import ExitStack

    from tidemark.capture.operations.ingestion import Ingestion
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.database import Database
    from tidemark.state_store.held_leases import HeldLeases

_MEMBER: Final = "capture member"
_NOTHING: Final = IngestReport({}, {}, 0, (), (), (), 0.0)


class SharedCapture:
    """A member as long as `stack` is open; `ingestion_of` makes the capture of some tables."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[SourceTable],
        ingestion_of: Callable[[Sequence[SourceTable]], Ingestion],
        stack: ExitStack,
    ) -> None:
        self._database, self._ingestion_of, self._stack = database, ingestion_of, stack
        self._groups = instance_groups(sources)
        self._member, self._held = self._join()
        self._mine: Sequence[SourceTable] | None = None
        self._ingestion: Ingestion | None = None

    def _join(self) -> tuple[int, HeldLeases]:
        return taken_number(self._database, _MEMBER, "capturing", self._stack)

    def step(self) -> IngestReport:
        """Take in the changes of this member's instances. Raises the errors of `Ingestion.step`."""
        try:
            self._held.require()
        except FencedError:  # it was stopped for so long that another process has its number
            self._member, self._held = self._join()
        members = holders_of(self._database, _MEMBER)
        mine = [table for group in self._groups if owner(group, members) == self._member for table in group]
        if mine != self._mine:
            self._mine, self._ingestion = mine, self._ingestion_of(mine) if mine else None
        return self._ingestion.step() if self._ingestion else _NOTHING


def instance_groups(sources: Sequence[SourceTable]) -> tuple[tuple[SourceTable, ...], ...]:
    """Groups of tables that belong together: they share an instance, directly or through other tables."""
    groups: list[tuple[set[str], list[SourceTable]]] = []
    for source in sources:
        joined = [group for group in groups if group[0] & set(source.instances)]
        instances = set(source.instances).union(*(group[0] for group in joined))
        tables = [table for group in joined for table in group[1]]
        groups = [group for group in groups if group not in joined] + [(instances, [*tables, source])]
    order = {source.name: place for place, source in enumerate(sources)}
    return tuple(tuple(sorted(tables, key=lambda table: order[table.name])) for _, tables in groups)


def owner(group: Sequence[SourceTable], members: Collection[int]) -> int | None:
    """The member that captures the group; None without members."""
    name = min(instance for table in group for instance in table.instances)
    return max(members, key=lambda member: _weight(name, member), default=None)


def _weight(name: str, member: int) -> bytes:
    return hashlib.blake2b(f"{member} {name}".encode(), digest_size=8).digest()
