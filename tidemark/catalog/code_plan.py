"""The effects of the working tree's changes on the lake: entities, outdated slices, and slices built from them.

Slices without stored code (computed before code was stored, or by other programs) are only counted. Downstream, only
dependencies that use changed columns are followed, from each changed entity separately.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.status import RunState
from tidemark.errors import ParseError
from tidemark.warehouse.code_change import UNKNOWN_CHANGE, ChangeKind, CodeChange, code_change, upstream_change
from tidemark.warehouse.code_version import EntityCode, entity_code
from tidemark.warehouse.column_reach import columns_reached

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from datetime import datetime

    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.code_registry import CodeRegistry, StoredCode
    from tidemark.state_store.reader import StateReader
    from tidemark.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class PlannedEntity:
    """A changed entity. `outdated` are its slices of older code, in order of time.

    `touched` are existing slices downstream by entity, to be computed again after these. `untouched` entities read the
    entity, but no changed column.
    """

    entity: str
    change: CodeChange
    outdated: tuple[Slice, ...]
    touched: Mapping[str, tuple[Slice, ...]]
    untouched: tuple[str, ...]


@dataclass(frozen=True)
class CodePlan:
    """`entities` in order, upstream first. `unknown` counts slices of unknown code by entity."""

    entities: tuple[PlannedEntity, ...]
    unknown: Mapping[str, int]

    @property
    def slices(self) -> tuple[Slice, ...]:
        """All slices to compute again, each once: outdated ones, and the ones that were built from them."""
        touched = (slice_ for planned in self.entities for slices in planned.touched.values() for slice_ in slices)
        return tuple(dict.fromkeys((*(slice_ for planned in self.entities for slice_ in planned.outdated), *touched)))


@dataclass(frozen=True)
class _Piece:
    """Slices of an entity that the same older code computed, and its difference from the present code."""

    entity: str
    change: CodeChange
    slices: tuple[Slice, ...]

    def of(self, only: Container[Slice]) -> _Piece:
        """The piece with only these slices."""
        return replace(self, slices=tuple(slice_ for slice_ in self.slices if slice_ in only))


def _always(_entity: str) -> bool:
    """Assumes that rows differ between two clocks."""
    return True


def code_plan(
    warehouse: Warehouse,
    registry: CodeRegistry,
    read: StateReader,
    now: datetime,
    chosen: Iterable[str] = (),
    only: Container[Slice] | None = None,
    goes_by_clock: Callable[[str], bool] = _always,
) -> CodePlan:
    """The plan for all entities, or for the chosen ones, at `now` (aware), with `only` these outdated slices if given.

    `goes_by_clock` says whether an entity's rows differ between UTC's clock and its own. Raises UnknownEntityError and
    StateStoreDownError.
    """
    computed = {*warehouse.queries, *warehouse.functions} & {*warehouse.entities}
    names = {warehouse.graph.entity(name).name for name in chosen} & computed if chosen else computed
    pieces = _pieces(warehouse, registry, names, goes_by_clock)
    if only is not None:
        pieces = {name: [piece.of(only) for piece in own] for name, own in pieces.items()}
    planned = (
        _planned(warehouse, read, name, pieces[name], now) for name in warehouse.graph.topological() if name in pieces
    )
    unknown = {name: count for name, count in registry.of_unknown_code().items() if name in names}
    return CodePlan(tuple(entity for entity in planned if entity), unknown)


def _planned(
    warehouse: Warehouse, read: StateReader, name: str, pieces: list[_Piece], now: datetime
) -> PlannedEntity | None:
    """The plan for one entity; None if no slice of older code is left."""
    left = [piece for piece in pieces if piece.slices]
    if not left:
        return None
    change = _merged([piece.change for piece in left])
    reached = [_reached(warehouse, piece, now) for piece in left if piece.change.outdates]
    outdated = sorted(slice_ for piece in left if piece.change.outdates for slice_ in piece.slices)
    below = dict.fromkeys(slice_ for slices in reached for slice_ in slices)
    touched: dict[str, list[Slice]] = {}
    for current in read.currents(below):
        if current.status.run_state is RunState.COMPLETED:
            touched.setdefault(current.slice.entity, []).append(current.slice)
    readers = dict.fromkeys(edge.down.name for edge in warehouse.graph.downstream_edges(name) if edge.down.name != name)
    untouched = [reader for reader in readers if not any(slice_.entity == reader for slice_ in below)]
    order = {entity: sorted(touched[entity]) for entity in warehouse.graph.topological() if entity in touched}
    return PlannedEntity(
        name,
        change,
        tuple(outdated),
        {entity: tuple(slices) for entity, slices in order.items()},
        tuple(untouched) if outdated else (),
    )


def _reached(warehouse: Warehouse, piece: _Piece, now: datetime) -> Iterator[Slice]:
    """The slices downstream that use a column that this code change affects."""
    along = columns_reached(warehouse.graph, warehouse.columns, piece.entity, piece.change.columns)

    def follows(edge: Edge) -> bool:
        return (edge.up.name, edge.down.name) in along

    return iter(downstream_closure(warehouse.graph, piece.slices, now, follows))


def _merged(changes: list[CodeChange]) -> CodeChange:
    kinds = list(ChangeKind)
    return CodeChange(
        max((change.kind for change in changes), key=kinds.index),
        frozenset(column for change in changes for column in change.columns),
        tuple(dict.fromkeys(word for change in changes for word in change.words)),
        tuple(dict.fromkeys(name for change in changes for name in change.added)),
        any(change.outdates for change in changes),
    )


def _pieces(
    warehouse: Warehouse, registry: CodeRegistry, names: Iterable[str], goes_by_clock: Callable[[str], bool]
) -> dict[str, list[_Piece]]:
    """The differences of each entity's older codes from its present code, with the slices that they computed."""
    outside = warehouse.columns.outside
    now = {name: entity_code(warehouse, warehouse.entities[name], outside) for name in names}
    older = [
        (stored, change)
        for stored in registry.codes()
        if stored.entity in now and stored.code != now[stored.entity].id
        for change in [_change(warehouse, stored, now[stored.entity], goes_by_clock)]
        if change.kind is not ChangeKind.NONE
    ]
    by_code = registry.slices_by({stored.code for stored, _ in older})
    pieces: dict[str, list[_Piece]] = {}
    for stored, change in older:
        slices = [slice_ for slice_ in by_code.get(stored.code, ()) if slice_.entity == stored.entity]
        there = tuple(slice_ for slice_ in slices if _is_slice(warehouse, slice_))
        pieces.setdefault(stored.entity, []).append(_Piece(stored.entity, change, there))
    return pieces


def _change(
    warehouse: Warehouse, stored: StoredCode, now: EntityCode, goes_by_clock: Callable[[str], bool]
) -> CodeChange:
    try:
        old = EntityCode.of_json(stored.content)
    except ValueError:
        return UNKNOWN_CHANGE
    if stored.entity in warehouse.unread and "depends_on" in now.rows:
        # `check` has not analysed the function yet, so its inputs are unknown. They do not count as a change.
        old = replace(old, rows={**old.rows, "depends_on": now.rows["depends_on"]})
    old = _without_inputs_of_rules(old, warehouse.entities[stored.entity].rule_inputs)
    columns = warehouse.columns
    change = code_change(
        old, now, lambda column: columns.is_read(stored.entity, column), lambda: goes_by_clock(stored.entity)
    )
    gone = upstream_change(old, now, lambda table, column: columns.is_used_by(stored.entity, f"{table}.{column}"))
    return replace(change, kind=ChangeKind.BREAKING, words=(*change.words, *gone)) if gone else change


def _without_inputs_of_rules(code: EntityCode, tables: frozenset[str]) -> EntityCode:
    """Code that was stored with them, by an older version of Tidemark or before a rule's table left the query."""
    needed = code.rows.get("depends_on", "").split("; ")
    left = "; ".join(text for text in needed if tables.isdisjoint(text.split(" ")[:2]))
    return replace(code, rows={**code.rows, "depends_on": left}) if left else code


def _is_slice(warehouse: Warehouse, slice_: Slice) -> bool:
    """Whether the slice has the entity's present period."""
    try:
        warehouse.graph.node(slice_.entity).ordinal(slice_)
    except ParseError:
        return False
    return True
