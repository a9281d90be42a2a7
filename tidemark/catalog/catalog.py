"""The operational catalog (C3): the present data of each entity, from the state store alone.

Sizes of tables are from the last reconciliation. All other values are current.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, func, select

from tidemark.catalog.known_completeness import KnownCompleteness
from tidemark.catalog.notes import CatalogNotes
from tidemark.catalog.slice_counts import SliceCounts, slice_counts
from tidemark.catalog.slice_details import NO_DETAILS, SliceDetails, slice_details
from tidemark.catalog.table_look import NO_LOG
from tidemark.catalog.told_data import NOTHING, told_data, told_totals
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import CURRENT, current_of, sub_of
from tidemark.state_store.schema import CATALOG_PARTITIONS, SLICES, SNAPSHOTS, TRANSITIONS
from tidemark.state_store.snapshot_candidates import SnapshotCandidates
from tidemark.state_store.transition import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Select

    from tidemark.catalog.notes import SchemaNote, TableNote
    from tidemark.catalog.partition_contents import ToldData
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database
    from tidemark.state_store.transition import Current

SHOWN_SLICES: Final = 50
_CHUNK: Final = 500
TO_COME: Final = ("waiting", "ready", "launched")
"""Run states of slices that have no data yet and had none before."""
_FAR: Final = "~"
"""A key that sorts after every other key."""


@dataclass(frozen=True)
class LastReader:
    """The slice that most recently read an entity, with its run and time (UTC)."""

    slice: str
    run_id: str | None
    at: datetime


@dataclass(frozen=True)
class CatalogEntry:
    """One entity. Values of its table are from the last reconciliation; None without a table or a reconciliation.

    Times are in UTC.
    """

    entity: str
    layer: str
    kind: str
    owner: str
    slices: SliceCounts
    snapshots: int = 0
    table_version: int | None = None
    committed_at: datetime | None = None
    rows: int | None = None
    size_bytes: int | None = None
    files: int | None = None
    schema_version: int | None = None
    columns: int | None = None
    last_reader: LastReader | None = None


@dataclass(frozen=True)
class CatalogSlice:
    """One slice: its status and its data.

    `version` is the table version of its tag, or else the one that its run reported.

    `issues` are the slices whose failed quality affects it; itself, if its own rules failed. `untagged` is the reason
    why the last version of a captured slice is not tagged; empty otherwise.
    """

    slice: Slice
    run_state: str
    states: tuple[str, ...]
    quality: str
    valid: bool
    tainted: bool
    generation: int
    rows: int | None
    size_bytes: int | None
    files: int | None
    version: int | None
    run_id: str | None
    issues: tuple[str, ...] = ()
    details: SliceDetails = NO_DETAILS
    untagged: str = ""


@dataclass(frozen=True)
class CatalogPage:
    """One entity:

    its entry, its schemas with the versions from which they hold, and its newest slices, newest first.
    """

    entry: CatalogEntry
    schemas: tuple[SchemaNote, ...]
    slices: tuple[CatalogSlice, ...]


class Catalog:
    """The catalog for the entities of a graph. It may be reused and is safe between threads.

    Raises StateStoreDownError.
    """

    def __init__(self, graph: DependencyGraph, database: Database) -> None:
        self._graph, self._database, self._notes = graph, database, CatalogNotes(database)
        self._completeness = KnownCompleteness(graph, database)

    def entries(self) -> list[CatalogEntry]:
        """One entry for each entity, in the order of `listed`."""
        return self._entries(listed(self._graph))

    def page(self, entity: str, most: int = SHOWN_SLICES, before: str = "") -> CatalogPage:
        """One entity with its newest `most` slices, with keys before `before` if given.

        Raises UnknownEntityError.
        """
        self._graph.entity(entity)
        (entry,) = self._entries([entity])
        with self._database.reading() as connection:
            rows = connection.execute(_newest(entity, before or _FAR, most)).all()
            tags = {tag.slice: (tag.version, tag.rows) for tag in connection.execute(tags_of(entity))}
        held = [(current_of(row[: len(CURRENT)]), row[len(CURRENT) :]) for row in rows]
        untagged = {held.snapshot.slice: held.reason for held in SnapshotCandidates(self._database).of(entity)}
        told = told_data(self._database, [current.slice for current, _ in held])
        statuses = {current.slice: current.status for current, _ in held}
        details = slice_details(self._completeness, self._database, statuses)
        slices = tuple(
            replace(
                _catalog_slice(current, sizes, version_and_rows(current.slice, told, tags), details[current.slice]),
                untagged=untagged.get(current.slice.key, ""),
            )
            for current, sizes in held
        )
        return CatalogPage(entry, tuple(self._notes.schemas(self._table_of(entity))), slices)

    def _entries(self, names: Sequence[str]) -> list[CatalogEntry]:
        counts, tables, tags = slice_counts(self._database), self._notes.tables(), self._tag_counts()
        schemas = self._notes.schema_sizes()
        readers = last_readers(self._graph, self._database, names, counts)
        outside = [name for name in names if self._graph.entity(name).kind is EntityKind.VIRTUAL and name not in tables]
        told = told_totals(self._database, outside) if outside else {}
        entries = []
        for name in names:
            table = self._table_of(name)
            version, columns = schemas.get(table, (None, None))
            entry = CatalogEntry(
                name,
                *self._declared(name),
                slices=counts.get(name, SliceCounts()),
                snapshots=tags.get(name, 0),
                schema_version=version,
                columns=columns,
                last_reader=readers.get(name),
            )
            if name in told:
                version, rows = told[name]
                columns = len(self._graph.entity(name).columns) or None
                entry = replace(entry, table_version=version, rows=rows, columns=columns)
            entries.append(_with_table(entry, tables.get(table)))
        return entries

    def _declared(self, name: str) -> tuple[str, str, str]:
        entity = self._graph.entity(name)
        return entity.layer, entity.kind.value, entity.owner

    def _table_of(self, name: str) -> str:
        return self._graph.entity(name).snapshot_of or name

    def _tag_counts(self) -> dict[str, int]:
        query = select(SNAPSHOTS.c.entity, func.count()).group_by(SNAPSHOTS.c.entity)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}


def listed(graph: DependencyGraph) -> list[str]:
    """The entities of a catalog, upstream before downstream, without roots and ends of projects."""
    return [name for name in graph.topological() if not graph.entity(name).is_project]


def last_readers(
    graph: DependencyGraph, database: Database, names: Iterable[str], counts: Mapping[str, SliceCounts]
) -> dict[str, LastReader]:
    """The last run that read each entity."""
    last = {
        name: max(
            (counts[edge.down.name].last_run for edge in graph.downstream_edges(name) if edge.down.name in counts),
            default=0,
        )
        for name in names
    }
    columns, numbers = TRANSITIONS.c, sorted({number for number in last.values() if number})
    query = select(columns.seq, columns.entity, columns.key, columns.sub, columns.run_id, columns.event_time)
    readers: dict[int, LastReader] = {}
    with database.reading() as connection:
        for start in range(0, len(numbers), _CHUNK):
            rows = connection.execute(query.where(columns.seq.in_(numbers[start : start + _CHUNK])))
            for seq, entity, key, sub, run_id, at in rows:
                readers[seq] = LastReader(str(Slice(entity, key, sub_of(sub))), run_id, instant_of(at))
    return {name: readers[number] for name, number in last.items() if number in readers}


def _with_table(entry: CatalogEntry, note: TableNote | None) -> CatalogEntry:
    if note is None or note.position == NO_LOG:
        return entry
    at = datetime.fromtimestamp(note.committed_at / 1000, UTC) if note.committed_at else None
    return replace(
        entry,
        table_version=note.position.version,
        committed_at=at,
        rows=note.rows,
        size_bytes=note.size_bytes,
        files=note.files,
    )


def _newest(entity: str, before: str, most: int) -> Select[Any]:
    """Slices that have or had data or should have it, with the sizes of their partitions."""
    slices, held = SLICES.c, CATALOG_PARTITIONS.c
    same = and_(held.entity == slices.entity, held.key == slices.key, held.sub == slices.sub)
    return (
        select(*(slices[name] for name in CURRENT), held.rows, held.bytes, held.files)
        .select_from(SLICES.outerjoin(CATALOG_PARTITIONS, same))
        .where(slices.entity == entity, slices.key < before, slices.life.not_in(TO_COME))
        .order_by(slices.key.desc(), slices.sub)
        .limit(most)
    )


def tags_of(entity: str) -> Select[Any]:
    """The tags of an entity: slice, version, rows."""
    return select(SNAPSHOTS.c.slice, SNAPSHOTS.c.version, SNAPSHOTS.c.rows).where(SNAPSHOTS.c.entity == entity)


def version_and_rows(
    slice_: Slice, told: Mapping[Slice, ToldData], tags: Mapping[str, tuple[int, int]]
) -> tuple[int | None, int | None]:
    """The version and rows of its tag, or else of its run's report."""
    return tags[slice_.key] if slice_.key in tags else told.get(slice_, NOTHING)


def issues_of(status: SliceStatus) -> tuple[str, ...]:
    """The slices whose failed quality affects this one, as text."""
    return tuple(sorted(map(str, status.issues)))


def _catalog_slice(
    current: Current, sizes: Sequence[Any], told: tuple[int | None, int | None], details: SliceDetails
) -> CatalogSlice:
    rows, size, files = sizes
    status = current.status
    return CatalogSlice(
        current.slice,
        status.run_state.value,
        tuple(sorted(status.states)),
        status.quality.value,
        status.valid,
        status.tainted,
        status.generation,
        told[1] if rows is None else rows,
        size,
        files,
        told[0],
        current.run_id,
        issues_of(status),
        details,
    )
