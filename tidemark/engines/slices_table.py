"""Slices and tags as a table of the lake, `_slices`, which every engine joins: a copy of what the catalog says.

A slice has a row, and so has a tag that people gave. `tidemark catalog --to-lake` writes the table first; while it is
there the center keeps it, in batches: the rows of entities of which anything changed are replaced, in one commit. Who
begins to keep it, and who finds that somebody else wrote it, compares all of it with the state store.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import write_deltalake
from sqlalchemy import func, select

from tidemark.catalog.catalog import Catalog, listed
from tidemark.compute.table_version_tags import BY_HAND
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.open_table import answer_for, delta_rs_options
from tidemark.quoting.datafusion import quote, sql_literal
from tidemark.state_store.schema import CATALOG_PARTITIONS, SNAPSHOTS, TRANSITIONS
from tidemark.state_store.slice_copies import SliceCopies
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from tidemark.catalog.catalog import CatalogSlice
    from tidemark.state_store.database import Database
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

SLICES_TABLE: Final = "_slices"
"""Its name in the lake; no entity has it."""
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
_MOST_SLICES: Final = 1_000_000
_AT_ONCE: Final = 20


class SlicesTable:
    """The table of one warehouse; one process keeps it at a time."""

    def __init__(self, warehouse: Warehouse, database: Database) -> None:
        self._warehouse, self._database = warehouse, database
        self._catalog, self._registry = Catalog(warehouse.graph, database), SnapshotRegistry(database)
        self._names = [*listed(warehouse.graph)]
        self._seq, self._tags = 0, dict[str, Any]()
        self._written = dict[str, list[dict[str, Any]]]()
        self._due: dict[str, None] | None = None
        self._version: int | None = None

    @property
    def path(self) -> TableLocation:
        """Where it is."""
        return self._warehouse.settings.warehouse / SLICES_TABLE

    def publish(self) -> int:
        """Make it equal to the state store, in one commit, also where it is not there yet; how many rows it has."""
        self._begin()
        self._write(self._changed(self._names))
        return sum(map(len, self._written.values()))

    def keep(self) -> None:
        """Take in what changed since the last time, of some entities at once; nothing where there is no such table."""
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
        """All entities are due, and what the table has is what was written."""
        self._written, self._version = {}, current_version(self.path)
        if self._version is not None:
            for row in read_rows(self.path, self._version).to_pylist():
                self._written.setdefault(row["entity"], []).append(row)
            for rows in self._written.values():
                rows.sort(key=_place)
        self._seq, self._tags = self._last(), self._tag_marks()
        self._due = dict.fromkeys([*self._names, *self._written])

    def _due_entities(self) -> dict[str, None]:
        """With those whose slices or tags changed, and those that are counted or copied, of which nothing says so."""
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
        """By entity what is another text where a tag came, went, or stands for something else."""
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
        """By entity all of its rows, where they are not those of the table."""
        rows = {name: self._rows(name) for name in names}
        gone = {name: list[dict[str, Any]]() for name in self._written if name not in self._warehouse.entities}
        there = {**rows, **gone}
        return {name: new for name, new in there.items() if new != self._written.get(name, [])}

    def _rows(self, name: str) -> list[dict[str, Any]]:
        if name not in self._warehouse.entities:
            return []
        places = self._warehouse.entities[name].replicate
        copies = {place: SliceCopies(self._database, place, name).all() for place in places}
        slices = self._catalog.page(name, _MOST_SLICES).slices
        tags = self._registry.of(name)
        tagged = {tag.slice for tag in tags if tag.period != BY_HAND and not tag.waits_for_late}
        rows = [_slice_row(name, slice_, tagged) for slice_ in slices]
        for row, slice_ in zip(rows, slices, strict=True):
            there = (place for place, known in copies.items() if _is_there(known.get(slice_.slice), slice_))
            row["replicated"] = ",".join(there)
        rows += [
            {**dict.fromkeys(_SCHEMA.names), "entity": name, "tag": tag.slice, "version": tag.version, "rows": tag.rows}
            for tag in tags
            if tag.period == BY_HAND
        ]
        return sorted(rows, key=_place)

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
        self._written.update(changed)
        self._version = 0 if self._version is None else self._version + 1


def _slice_row(name: str, slice_: CatalogSlice, tagged: set[str]) -> dict[str, Any]:
    counted = slice_.details.completeness
    return {
        "entity": name,
        "slice": str(slice_.slice).partition("@")[2],
        "tag": slice_.slice.key if slice_.slice.key in tagged else None,
        "version": slice_.version,
        "rows": slice_.rows,
        "generation": slice_.generation,
        "state": slice_.run_state,
        "states": ",".join(slice_.states),
        "quality": slice_.quality,
        "valid": slice_.valid,
        "tainted": slice_.tainted,
        "complete": None if counted is None else counted.is_complete,
        "records": None if counted is None else counted.lake,
        "records_at_source": None if counted is None else counted.source,
        "replicated": "",
    }


def _is_there(copy: SliceCopy | None, slice_: CatalogSlice) -> bool:
    """Whether readers of the replica see this generation."""
    return copy is not None and copy.published is not None and copy.published.generation == slice_.generation


def _place(row: dict[str, Any]) -> tuple[str, str]:
    return row["slice"] or "", row["tag"] or ""
