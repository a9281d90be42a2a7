"""Rules for what each kind of entity must declare to be computable, checked by `tidemark check` with file and line.

The model allows more than a run can do: a table that nothing computes, a sub-partition of a captured table. There is
one rule for each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.crawl.probes.own_probe import GROUP, installed
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.graph.node import Node
from tidemark.dependency_model.time.partition_columns import PARTITION_COLUMNS
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import Zone
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.declarations import Declarations

_SEPARATORS: Final = frozenset("|,")
"""Separators in the key of a Dagster partition."""
_HOUR_SECONDS: Final = 3600
Problem = tuple[str, EntityError]


@dataclass(frozen=True)
class KindRule:
    """`is_computed`: by a query, a function or an asset of the project;

    with `may_be_captured` it may be captured instead.
    """

    meaning: str
    is_computed: bool = True
    may_be_captured: bool = False
    may_have_parts: bool = True

    def problems(self, entity: Entity, *, has_body: bool) -> Iterator[Problem]:
        """(key, problem) for each reason why an entity of this kind cannot run."""
        is_captured = bool(entity.source or entity.snapshot_of)
        if is_captured and not self.may_be_captured:
            yield "kind", EntityError("only a Snapshot is captured", found=entity.kind.value)
        if (has_body or entity.own_asset) and (is_captured or not self.is_computed):
            yield (
                "kind",
                EntityError(f"{self.meaning}: nothing here computes it", hint="remove the query or own_asset"),
            )
        if has_body and entity.own_asset:
            yield "own_asset", EntityError("a query or function computes it, or an asset of your own: not both")
        if self.is_computed and not (has_body or entity.own_asset or is_captured):
            hint = (
                f"write {entity.name}.sql or .py; own_asset: true for a Dagster asset; kind: Virtual if others make it"
            )
            yield "kind", EntityError("nothing computes it", expected="a query, a function or an asset", hint=hint)
        if entity.sub_partitions and (is_captured or not self.may_have_parts):
            yield "sub_partitions", EntityError(f"{'a captured table' if is_captured else self.meaning} has no parts")


KIND_RULES: Final = {
    EntityKind.TIME_SERIES: KindRule("a table with the rows of each period"),
    EntityKind.SLIDING: KindRule("a table over a window that slides"),
    EntityKind.CUMULATIVE: KindRule("a table that grows within its granularity"),
    EntityKind.SNAPSHOT: KindRule("a full table as of each period", may_be_captured=True),
    EntityKind.STATIC: KindRule("a table without periods", may_have_parts=False),
    EntityKind.VIRTUAL: KindRule("data of another system", is_computed=False),
    EntityKind.PROJECT: KindRule("a group of other entities", is_computed=False, may_have_parts=False),
}
"""One rule for each kind; docs/kinds.md explains them."""


def unrunnable(read: Declarations, root: Path) -> Iterator[EntityError]:
    """The errors of entities that cannot run, with lines."""
    for name, entity in read.entities.items():
        has_query = name in read.queries
        rule = KIND_RULES[entity.kind].problems(entity, has_body=has_query or name in read.functions)
        yield from _with_lines(entity, root, [*rule, *_of_any_kind(entity), *_of_columns(entity, has_query=has_query)])


def _with_lines(entity: Entity, root: Path, problems: Sequence[Problem]) -> Iterator[EntityError]:
    if not problems:
        return
    document = read_document((root / entity.file).read_text(encoding="utf-8"), entity.file)
    for key, problem in problems:
        problem.where = f"{entity.file}:{document.line((key,))}"
        yield problem


def _of_any_kind(entity: Entity) -> Iterator[Problem]:
    if COMPLETED not in entity.state_names[-1:]:
        names = ", ".join(entity.state_names)
        yield (
            "states",
            EntityError("its slices are never completed", expected=f"{COMPLETED} as last state", found=names),
        )
    if not Node(entity).existing:
        yield "start", EntityError("it has no slices", expected=f"a {entity.period} between its start and its end")
    change = _change_within_an_hour(entity)
    if change:
        told = "Dagster cannot make hours if the clock changes by less than an hour"
        when = f"{entity.time_zone}, which does so on {change:%Y-%m-%d}"
        hint = "declare a period of 10min, or time_zone: UTC with a day over its hours"
        yield "period", EntityError(told, found=when, hint=hint)
    if entity.is_static and entity.export:
        yield (
            "export",
            EntityError("a Static entity has no slices to publish", hint="export a table that is computed from it"),
        )
    yield from _probe(entity)
    for dimension, parts in entity.sub_partitions.items():
        if dimension in PARTITION_COLUMNS:
            yield "sub_partitions", EntityError(f"'{dimension}' is a column of the business time", hint="rename it")
        wrong = next((value for value in parts if not _SEPARATORS.isdisjoint(value)), None)
        if wrong is not None:
            yield "sub_partitions", EntityError("the name of a part cannot contain '|' or ','", found=wrong)


def _change_within_an_hour(entity: Entity) -> datetime | None:
    """The first clock change in the entity's slices after which hours begin at other times than Dagster's."""
    if entity.period is not Period.HOUR:
        return None
    existing, zone = Node(entity).existing, Zone.load(entity.time_zone)
    if not existing:
        return None
    grid = entity.calendar.grid(entity.period)
    changes = zone.changes_within(grid.start(existing.start), grid.start(existing.stop))
    odd = (at for at in changes if (zone.offset_at(at) - zone.offset_at(at - 1)) % _HOUR_SECONDS)
    return next((datetime.fromtimestamp(at, UTC) for at in odd), None)


def _of_columns(entity: Entity, *, has_query: bool) -> Iterator[Problem]:
    if entity.columns and has_query:
        yield "columns", EntityError("its query says which columns it has", hint="remove columns")


def _probe(entity: Entity) -> Iterator[Problem]:
    """A probe of the project must be installed."""
    own = entity.probe.own if entity.probe else None
    if own is not None and own.entry_point not in installed():
        names = ", ".join(installed()) or "none is installed"
        yield "probe", EntityError(f"unknown entry point of {GROUP}", expected=names, found=own.entry_point)
