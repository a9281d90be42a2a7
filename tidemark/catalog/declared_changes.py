"""Entities that a changed project adds, removes, renames or moves in time (D4).

The project is compared with its state at the last start of a center.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.row_codec import sub_text
from tidemark.warehouse.code_version import EntityCode, entity_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.code_registry import StoredCode
    from tidemark.warehouse.warehouse import Warehouse

    Extents = Mapping[str, Sequence[Any]]
    """By sub-partition as text, empty for whole slices: its grid as text, and the range of its slices in that grid."""


class DeclaredChangeKind(Enum):
    """What a project does with an entity. A renamed entity is a new table: the old one stays in the lake."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    PERIOD = "another period"
    START = "another start"
    END = "another end"
    PARTS = "other sub-partitions"


class SliceRange(NamedTuple):
    """Slices of one sub-partition that follow each other."""

    first: Slice
    last: Slice
    length: int


@dataclass(frozen=True)
class DeclaredChange:
    """`before` and `now` are names, periods or bounds, empty where there is none.

    `new` are the ranges of slices that exist now, did not exist before, and have ended: they are computed, or looked
    for if other systems write them. `gone` is the number of slices that no longer exist; they stay in the lake.
    """

    entity: str
    kind: DeclaredChangeKind
    before: str = ""
    now: str = ""
    new: tuple[SliceRange, ...] = ()
    gone: int = 0

    @property
    def count(self) -> int:
        """The number of new slices."""
        return sum(slices.length for slices in self.new)

    @property
    def ends(self) -> tuple[str, str] | None:
        """The keys of the first and the last new slice."""
        if not self.new:
            return None
        return min(slices.first.key for slices in self.new), max(slices.last.key for slices in self.new)


def declared_changes(
    warehouse: Warehouse, before: Mapping[str, Extents], codes: Iterable[StoredCode], now: datetime
) -> list[DeclaredChange]:
    """The changes at `now` (aware), removed entities first, the others with upstream entities first.

    `before` has the extents of each entity at the last start of a center; without any, no change is known. `codes` are
    the codes that have computed slices: an added entity with the code of a removed one is renamed.
    """
    graph = warehouse.graph
    names = [name for name in graph.topological() if not graph.entity(name).is_project]
    if not before:
        return []
    removed = {name: _versions(codes, name) for name in before if name not in graph}
    renamed: dict[str, str] = {}
    for name in names:
        if name not in before:
            version = entity_code(warehouse, warehouse.entities[name], warehouse.columns.outside).version
            former = next((old for old, versions in removed.items() if version in versions), None)
            if former:
                renamed[name] = former
                del removed[former]
    return [
        *(DeclaredChange(name, DeclaredChangeKind.REMOVED) for name in removed),
        *(
            change
            for name in names
            for change in _of_entity(graph.node(name), before.get(name), renamed.get(name), seconds_of(now))
        ),
    ]


def _versions(codes: Iterable[StoredCode], name: str) -> set[str]:
    """The versions of the codes that have computed slices of an entity."""
    versions = set[str]()
    for stored in codes:
        if stored.entity == name:
            try:
                versions.add(EntityCode.of_json(stored.content).version)
            except ValueError:  # the run reported only its id
                continue
    return versions


def _of_entity(node: Node, before: Extents | None, former: str | None, now: int) -> Iterator[DeclaredChange]:
    there = {sub_text(sub): sub for sub in node.subs}
    if before is None:
        kind = DeclaredChangeKind.RENAMED if former else DeclaredChangeKind.ADDED
        yield DeclaredChange(node.name, kind, former or "", node.name if former else "", _all_of(node, node.subs, now))
        return
    period = str(before[""][0]).partition(" ")[0]
    if period != str(node.period):
        yield DeclaredChange(
            node.name, DeclaredChangeKind.PERIOD, period, str(node.period), _all_of(node, node.subs, now)
        )
        return
    added, removed = [text for text in there if text not in before], [text for text in before if text not in there]
    if added or any(removed):
        new = _all_of(node, [there[text] for text in added], now)
        yield DeclaredChange(node.name, DeclaredChangeKind.PARTS, _listed(removed), _listed(added), new)
    if node.grid is not None:
        was = {there[text]: range(first, stop) for text, (_, first, stop) in before.items() if text in there}
        yield from _moved(node, was, now)


def _moved(node: Node, before: Mapping[Sub, range], now: int) -> Iterator[DeclaredChange]:
    """The bounds of time that moved, with the first sub-partition whose bound moved as the example."""
    both = [(sub, was, node.existing_of(sub)) for sub, was in before.items()]
    sides: tuple[tuple[DeclaredChangeKind, Callable[[range], int], Callable[[range, range], range]], ...] = (
        (DeclaredChangeKind.START, lambda numbers: numbers.start, _earlier),
        (DeclaredChangeKind.END, lambda numbers: numbers.stop - 1, _later),
    )
    for kind, bound, beyond in sides:
        moved = [(sub, was, there) for sub, was, there in both if bound(was) != bound(there)]
        for sub, was, there in moved[:1]:
            new = _ended(node, ((sub, beyond(there, was)) for sub, was, there in moved), now)
            gone = _ended(node, ((sub, beyond(was, there)) for sub, was, there in moved), now)
            old, bound_now = (_key(node, sub, bound(numbers)) for numbers in (was, there))
            yield DeclaredChange(node.name, kind, old, bound_now, new, sum(slices.length for slices in gone))


def _earlier(numbers: range, others: range) -> range:
    """The numbers of a range before the first of the others."""
    return range(numbers.start, min(others.start, numbers.stop))


def _later(numbers: range, others: range) -> range:
    """The numbers of a range after the last of the others."""
    return range(max(others.stop, numbers.start), numbers.stop)


def _key(node: Node, sub: Sub, number: int) -> str:
    """The key of the first or the last slice; empty if the entity has no start or no end."""
    grid = node.grid_of(sub)
    return grid.key(number) if grid and grid.first < number < grid.last else ""


def _all_of(node: Node, subs: Iterable[Sub], now: int) -> tuple[SliceRange, ...]:
    return _ended(node, ((sub, node.existing_of(sub)) for sub in subs), now)


def _ended(node: Node, ranges: Iterable[tuple[Sub, range]], now: int) -> tuple[SliceRange, ...]:
    """The slices of each range that have ended."""
    grids = ((sub, numbers, node.grid_of(sub)) for sub, numbers in ranges)
    cut = (
        (sub, range(numbers.start, min(numbers.stop, grid.at(now))) if grid else numbers)
        for sub, numbers, grid in grids
    )
    return tuple(
        SliceRange(node.slice(ended[0], sub), node.slice(ended[-1], sub), len(ended)) for sub, ended in cut if ended
    )


def _listed(subs: Iterable[str]) -> str:
    return "; ".join(filter(None, subs))
