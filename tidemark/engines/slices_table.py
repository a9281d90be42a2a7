"""The table `_slices` of the lake: a copy of the catalog's slices and tags that every engine can join.

Each slice has a row, and so has each tag that a user set. `tidemark catalog --to-lake` creates the table. From then on
the center keeps it current: it replaces the rows of changed entities in batches, each batch in one commit. The center
compares the whole table with the state store when it starts, and when it finds that another process wrote the table.
"""

from __future__ import annotations

import hashlib
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import write_deltalake
from sqlalchemy import and_, func, select

from tidemark.catalog.catalog import TO_COME, listed
from tidemark.catalog.known_completeness import KnownCompleteness
from tidemark.compute.table_version_tags import BY_HAND
from tidemark.delta.delta_rs_table import current_version, read_rows, table_metrics
from tidemark.delta.open_table import answer_for, delta_rs_options
from tidemark.quoting.datafusion import quote, sql_literal
from tidemark.state_store.row_codec import CURRENT, current_of, sub_text
from tidemark.state_store.schema import CATALOG_PARTITIONS, SLICES, SNAPSHOTS, TRANSITIONS
from tidemark.state_store.slice_copies import SliceCopies
from tidemark.state_store.slice_lookup import ARRIVALS
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.warehouse.reserved_names import SLICES_TABLE

if TYPE_CHECKING:
    from sqlalchemy import Select

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database
    from tidemark.state_store.tagged_snapshot import TaggedSnapshot
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

_SCHEMA: Final = pa.schema(
    [
        ("entity", pa.string()),
        ("slice", pa.string()),
        ("tag", pa.string()),
        ("version", pa.int64()),
        ("rows", pa.int64()),
        ("generation", pa.int64()),
        ("state", pa.string()),
        ("states", pa.string()),
        ("quality", pa.string()),
        ("valid", pa.bool_()),
        ("tainted", pa.bool_()),
        ("complete", pa.bool_()),
        ("records", pa.int64()),
        ("records_at_source", pa.int64()),
        ("replicated", pa.string()),
    ]
)
_RETENTION: Final = {
    "delta.deletedFileRetentionDuration": "interval 1 days",
    "delta.logRetentionDuration": "interval 1 days",
}
_AT_ONCE: Final = 20


class SlicesTable:
    """The `_slices` table of one warehouse. Only one process may keep it at a time."""

    def __init__(self, warehouse: Warehouse, database: Database) -> None:
        self._warehouse, self._database = warehouse, database
        self._registry, self._completeness = SnapshotRegistry(database), KnownCompleteness(warehouse.graph, database)
        self._names = [*listed(warehouse.graph)]
        self._seq, self._tags = 0, dict[str, Any]()
        self._written = dict[str, bytes]()
        self._due: dict[str, None] | None = None
        self._version: int | None = None

    @property
    def path(self) -> TableLocation:
        return self._warehouse.settings.warehouse / SLICES_TABLE

    def publish(self) -> int:
        """Make the table equal to the state store in one commit; creates it if needed. Returns its number of rows."""
        self._begin()
        self._write(self._changed(self._names))
        return table_metrics(self.path).rows

    def keep(self) -> None:
        """Write the changes since the last call, for a limited number of entities.

        Does nothing while the table is missing.
        """
        version = current_version(self.path)
        if version is None:
            self._due = None
            return
        if self._due is None or version != self._version:
            self._begin()
        due = self._due_entities()
        some = [*islice(due, _AT_ONCE)]
        self._write(self._changed(some))
        for name in some:
            del due[name]

    def _begin(self) -> None:
        """Mark all entities as due, and read from the table what was last written."""
        self._written, self._version = {}, current_version(self.path)
        if self._version is not None:
            there = sorted(read_rows(self.path, self._version).to_pylist(), key=itemgetter("entity"))
            for name, rows in groupby(there, itemgetter("entity")):
                self._written[name] = _digest(sorted(rows, key=_place))
        self._seq, self._tags = self._last(), self._tag_marks()
        self._due = dict.fromkeys([*self._names, *self._written])

    def _due_entities(self) -> dict[str, None]:
        """The due entities, plus newly changed ones and entities whose changes leave no transition."""
        due = self._due if self._due is not None else {}
        last, tags = self._last(), self._tag_marks()
        query = select(TRANSITIONS.c.entity).where(TRANSITIONS.c.seq > self._seq).distinct()
        with self._database.reading() as connection:
            due.update(dict.fromkeys(connection.execute(query).scalars()))
        due.update((name, None) for name in {*tags, *self._tags} if tags.get(name) != self._tags.get(name))
        due.update((name, None) for name in self._names if self._changes_unseen(name))
        self._seq, self._tags, self._due = last, tags, due
        return due

    def _changes_unseen(self, name: str) -> bool:
        entity = self._warehouse.entities.get(name)
        return entity is not None and bool(
            entity.replicate or entity.completeness or (entity.probe and entity.probe.counts)
        )

    def _last(self) -> int:
        with self._database.reading() as connection:
            return connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0

    def _tag_marks(self) -> dict[str, Any]:
        """By entity, a fingerprint that changes when a tag is added, removed or moved, or a partition's rows change."""
        columns, held = SNAPSHOTS.c, CATALOG_PARTITIONS.c
        marks = (func.count(), func.max(columns.tagged_at), func.sum(columns.version), func.sum(columns.generation))
        tags = select(columns.entity, *marks).group_by(columns.entity)
        sizes = select(held.entity, func.count(), func.sum(held.rows)).group_by(held.entity)
        with self._database.reading() as connection:
            marks_found = [*connection.execute(tags), *connection.execute(sizes)]
        told = dict[str, Any]()
        for name, *mark in marks_found:
            told[name] = (*told.get(name, ()), *mark)
        return told

    def _changed(self, names: list[str]) -> dict[str, list[dict[str, Any]]]:
        """By entity, all rows of the entities whose rows differ from the table's."""
        rows = {name: self._rows(name) for name in names}
        gone = {name: list[dict[str, Any]]() for name in self._written if name not in self._warehouse.entities}
        there = {**rows, **gone}
        return {name: new for name, new in there.items() if _digest(new) != self._written.get(name, b"")}

    def _rows(self, name: str) -> list[dict[str, Any]]:
        if name not in self._warehouse.entities:
            return []
        tags = {tag.key: tag for tag in self._registry.of(name) if not tag.waits_for_late}
        period = str(self._warehouse.entities[name].period)
        with self._database.reading() as connection:
            held = connection.execute(_slices_of(name)).all()
            versions = {(key, sub): version for key, sub, version in connection.execute(_versions_of(name))}
        currents = [current_of(row[: len(CURRENT)]) for row in held]
        counted = self._completeness.of([current.slice for current in currents])
        copies = {place: self._published(place, name) for place in self._warehouse.entities[name].replicate}
        rows = []
        for current, row in zip(currents, held, strict=True):
            slice_, status = current.slice, current.status
            tag = tags.get((name, period, slice_.key))
            version = versions.get((slice_.key, sub_text(slice_.sub))) or ""
            come = counted.get(slice_)
            rows.append(
                {
                    "entity": name,
                    "slice": str(slice_).partition("@")[2],
                    "tag": tag.slice if tag else None,
                    "version": tag.version if tag else int(version) if version.isdecimal() else None,
                    "rows": tag.rows if tag and row[-1] is None else row[-1],
                    "generation": status.generation,
                    "state": status.run_state.value,
                    "states": ",".join(sorted(status.states)),
                    "quality": status.quality.value,
                    "valid": status.valid,
                    "tainted": status.tainted,
                    "complete": come.is_complete if come else None,
                    "records": come.lake if come else None,
                    "records_at_source": come.source if come else None,
                    "replicated": ",".join(
                        place for place, there in copies.items() if there.get(slice_) == status.generation
                    ),
                }
            )
        by_hand = (tag for tag in tags.values() if tag.period == BY_HAND)
        return sorted([*rows, *map(_tag_row, by_hand)], key=_place)

    def _published(self, place: str, name: str) -> dict[Slice, int]:
        """The generation of each slice that readers of the replica at `place` see."""
        copies = SliceCopies(self._database, place, name).all().values()
        return {copy.slice: copy.published.generation for copy in copies if copy.published}

    def _write(self, changed: dict[str, list[dict[str, Any]]]) -> None:
        is_there = self._version is not None
        if not changed and is_there:
            return
        rows = pa.Table.from_pylist([row for rows in changed.values() for row in rows], schema=_SCHEMA)
        names = ", ".join(map(sql_literal, changed))
        with answer_for(self.path):
            write_deltalake(
                str(self.path),
                rows,
                mode="overwrite",
                predicate=f"{quote('entity')} IN ({names})" if is_there else None,
                partition_by=["entity"],
                configuration=None if is_there else _RETENTION,
                storage_options=delta_rs_options(self.path),
            )
        self._written.update((name, _digest(rows)) for name, rows in changed.items())
        self._version = 0 if self._version is None else self._version + 1


def _slices_of(entity: str) -> Select[Any]:
    """Slices that exist, existed or should exist, with the row counts of their partitions."""
    slices, held = SLICES.c, CATALOG_PARTITIONS.c
    same = and_(held.entity == slices.entity, held.key == slices.key, held.sub == slices.sub)
    query = select(*(slices[name] for name in CURRENT), held.rows).select_from(
        SLICES.outerjoin(CATALOG_PARTITIONS, same)
    )
    return query.where(slices.entity == entity, slices.life.not_in(TO_COME))


def _versions_of(entity: str) -> Select[Any]:
    """The table versions that runs reported for each slice, oldest first."""
    columns = TRANSITIONS.c
    query = select(columns.key, columns.sub, columns.snapshot_id)
    is_arrival = columns.event.in_(ARRIVALS) | columns.snapshot_id.is_not(None)
    return query.where(columns.entity == entity, is_arrival).order_by(columns.seq)


def _tag_row(tag: TaggedSnapshot) -> dict[str, Any]:
    told = {"entity": tag.entity, "tag": tag.slice, "version": tag.version, "rows": tag.rows}
    return {**dict.fromkeys(_SCHEMA.names), **told}


def _place(row: dict[str, Any]) -> tuple[str, str]:
    return row["slice"] or "", row["tag"] or ""


def _digest(rows: list[dict[str, Any]]) -> bytes:
    """A hash of the rows; empty if there are none."""
    told = repr([[row[name] for name in _SCHEMA.names] for row in rows])
    return hashlib.sha256(told.encode()).digest() if rows else b""
