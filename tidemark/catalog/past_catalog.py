"""The operational catalog at a past instant (C3, D8), from the transitions recorded by then.

Rows, version and run of a slice are from its last run by then. Sizes, files, schemas, profiles and
counts are only stored for the present, so they are None. Entities, layers, kinds and owners are the present ones.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, true

from tidemark.catalog.catalog import (
    SHOWN_SLICES,
    CatalogEntry,
    CatalogPage,
    CatalogSlice,
    issues_of,
    last_readers,
    listed,
    tags_of,
    version_and_rows,
)
from tidemark.catalog.notes import CatalogNotes
from tidemark.catalog.slice_counts import SliceCounts
from tidemark.catalog.slice_details import SliceDetails
from tidemark.catalog.told_data import NOTHING, past_totals, told_data
from tidemark.catalog.told_rules import told_rules
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.status.slice_status import FOREIGN, PARTIAL
from tidemark.state_store.past_states import states_at
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import SNAPSHOTS, TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from tidemark.catalog.partition_contents import ToldData
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.database import Database
    from tidemark.state_store.past_states import PastState

_TO_COME = frozenset({RunState.WAITING, RunState.READY, RunState.LAUNCHED})
_UNDER_WAY = frozenset({RunState.READY, RunState.LAUNCHED, RunState.RUNNING})


class PastCatalog:
    """The catalog for the entities of a graph at an aware instant. Raises StateStoreDownError."""

    def __init__(self, graph: DependencyGraph, database: Database, when: datetime) -> None:
        self._graph, self._database, self._when = graph, database, when.astimezone(UTC)

    def entries(self) -> list[CatalogEntry]:
        """One entry for each entity, in the order of `listed`."""
        states = defaultdict[str, list["PastState"]](list)
        for state in states_at(self._database, self._when):
            states[state.slice.entity].append(state)
        return self._entries(listed(self._graph), states)

    def page(self, entity: str, most: int = SHOWN_SLICES, before: str = "") -> CatalogPage:
        """One entity with its newest `most` slices, with keys before `before` if given.

        The cost is proportional to the past of the entity and its readers. Raises UnknownEntityError.
        """
        self._graph.entity(entity)
        states = states_at(self._database, self._when, entity=entity)
        readers = {edge.down.name for edge in self._graph.downstream_edges(entity)}
        (entry,) = self._entries([entity], {entity: states} if states else {}, {entity, *readers})
        newest = _newest(states, before)[:most]
        told = told_data(self._database, [state.slice for state in newest], until=self._when)
        runs, tags = self._runs(entity, {state.slice.key for state in newest}), self._tags(entity)
        rules = told_rules(self._database, {state.slice: state.status for state in newest}, until=self._when)
        slices = tuple(
            _catalog_slice(state, version_and_rows(state.slice, told, tags), runs, rules.get(state.slice, ""))
            for state in newest
        )
        return CatalogPage(entry, (), slices)

    def _entries(
        self,
        names: Sequence[str],
        states: Mapping[str, Sequence[PastState]],
        around: Collection[str] | None = None,
    ) -> list[CatalogEntry]:
        """`around` has these entities and their readers; all entities if it is None."""
        runs, tags = self._last_runs(around), self._tag_counts(around)
        counts = {name: SliceCounts(last_run=run) for name, run in runs.items()}
        counts.update((name, _counts(of_entity, runs.get(name, 0))) for name, of_entity in states.items())
        readers = last_readers(self._graph, self._database, names, counts)
        told = self._told_totals(names, states)
        return [
            CatalogEntry(
                name,
                (entity := self._graph.entity(name)).layer,
                entity.kind.value,
                entity.owner,
                slices=counts.get(name, SliceCounts()),
                snapshots=tags.get(name, 0),
                last_reader=readers.get(name),
                table_version=told.get(name, NOTHING).version,
                rows=told.get(name, NOTHING).rows,
                columns=(len(entity.columns) or None) if name in told else None,
            )
            for name in names
        ]

    def _told_totals(self, names: Iterable[str], states: Mapping[str, Sequence[PastState]]) -> Mapping[str, ToldData]:
        """The reported rows of external tables without a log in the lake."""
        outside = [name for name in names if self._graph.entity(name).kind is EntityKind.VIRTUAL and name in states]
        if not outside:
            return {}
        tables = CatalogNotes(self._database).tables()
        there = (state for name in outside if name not in tables for state in states[name])
        completed = [state.slice for state in there if state.status.run_state is RunState.COMPLETED]
        return past_totals(self._database, completed, self._when) if completed else {}

    def _last_runs(self, entities: Collection[str] | None) -> dict[str, int]:
        """By entity, the number of its last transition by then that has a run."""
        columns = TRANSITIONS.c
        is_meant = columns.run_id.is_not(None) & (columns.record_time <= microseconds(self._when))
        query = select(columns.entity, func.max(columns.seq)).where(is_meant, _is_any_of(columns.entity, entities))
        return self._by_name(query.group_by(columns.entity))

    def _runs(self, entity: str, keys: Collection[str]) -> dict[Slice, str]:
        """The last run of each slice with one of these keys."""
        columns = TRANSITIONS.c
        is_meant = columns.run_id.is_not(None) & (columns.record_time <= microseconds(self._when))
        are_shown = (columns.entity == entity) & _is_any_of(columns.key, keys)
        newest = select(func.max(columns.seq)).where(are_shown, is_meant)
        query = select(columns.key, columns.sub, columns.run_id).where(
            columns.seq.in_(newest.group_by(columns.key, columns.sub))
        )
        with self._database.reading() as connection:
            return {Slice(entity, key, sub_of(sub)): run_id for key, sub, run_id in connection.execute(query)}

    def _tags(self, entity: str) -> dict[str, tuple[int, int]]:
        """Tags by then. The earlier tag of a snapshot that was restated since is not known."""
        with self._database.reading() as connection:
            tags = connection.execute(tags_of(entity).where(SNAPSHOTS.c.tagged_at <= self._when.isoformat()))
            return {tag.slice: (tag.version, tag.rows) for tag in tags}

    def _tag_counts(self, entities: Collection[str] | None) -> dict[str, int]:
        columns = SNAPSHOTS.c
        is_meant = (columns.tagged_at <= self._when.isoformat()) & _is_any_of(columns.entity, entities)
        return self._by_name(select(columns.entity, func.count()).where(is_meant).group_by(columns.entity))

    def _by_name(self, query: Any) -> dict[str, int]:
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}


def _is_any_of(column: Any, names: Collection[str] | None) -> Any:
    return true() if names is None else column.in_(sorted(names))


def _newest(states: Iterable[PastState], before: str) -> list[PastState]:
    """Slices that had data or should have had it, newest first, then by sub-partition."""
    shown = [
        state for state in states if state.status.run_state not in _TO_COME and (not before or state.slice.key < before)
    ]
    by_sub = sorted(shown, key=lambda state: sub_text(state.slice.sub))
    return sorted(by_sub, key=lambda state: state.slice.key, reverse=True)


def _counts(states: Iterable[PastState], last_run: int) -> SliceCounts:
    all_ = list(states)
    there = [state for state in all_ if state.status.run_state is RunState.COMPLETED]
    in_state = [state.status.run_state for state in all_]
    return SliceCounts(
        completed=len(there),
        invalid=sum(bool(state.status.issues) for state in there),
        tainted=sum(state.status.tainted for state in there),
        foreign=sum(FOREIGN in state.status.states for state in there),
        partial=sum(PARTIAL in state.status.states for state in there),
        absent=in_state.count(RunState.ABSENT),
        failed=in_state.count(RunState.FAILED),
        running=sum(run_state in _UNDER_WAY for run_state in in_state),
        newest=max((state.slice.key for state in there), default=""),
        changed=max((state.seq for state in all_), default=0),
        last_run=last_run,
    )


def _catalog_slice(
    state: PastState, told: tuple[int | None, int | None], runs: Mapping[Slice, str], rules: str
) -> CatalogSlice:
    status, (version, rows) = state.status, told
    return CatalogSlice(
        state.slice,
        status.run_state.value,
        tuple(sorted(status.states)),
        status.quality.value,
        status.valid,
        status.tainted,
        status.generation,
        rows,
        None,
        None,
        version,
        runs.get(state.slice),
        issues_of(status),
        SliceDetails(rules),
    )
