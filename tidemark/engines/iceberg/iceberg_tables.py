"""The Iceberg metadata of all entities that declare `read_by: [iceberg]`."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from tidemark.catalog.notes import iceberg_troubles
from tidemark.delta.iceberg_metadata import IcebergMetadata
from tidemark.delta.log_folder import log_mark
from tidemark.state_store.schema import SNAPSHOTS, TRANSITIONS
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tidemark.engines.iceberg.iceberg_table import IcebergTable
    from tidemark.state_store.database import Database
    from tidemark.warehouse.warehouse import Warehouse

_LOGGER: Final = logging.getLogger("tidemark.iceberg")


@dataclass(frozen=True)
class WrittenMetadata:
    """The number of `tags` in it, None without a table; or the reason `why` it was not written."""

    entity: str
    location: str
    tags: int | None
    why: str


class IcebergTables:
    """Keeps the metadata behind the Delta tables. Several processes may do so at once: one of them commits."""

    def __init__(self, warehouse: Warehouse, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._warehouse, self._registry, self._clock = warehouse, SnapshotRegistry(database), clock
        self._notes = iceberg_troubles(database)
        self._done, self._tables = dict[str, Any](), dict[str, "IcebergTable"]()
        self.names = tuple(name for name, entity in warehouse.entities.items() if "iceberg" in entity.read_by)

    def keep(self) -> None:
        """Write what changed since the last call. A failure of one entity is noted, and tried again by the next."""
        if undeclared := self._notes.all().keys() - {*self.names}:
            self._notes.remove(*undeclared)
        told = self._told() if self.names else ()
        for name in self.names:
            # The mark is older than what is read after it.
            mark = (told, log_mark(self._warehouse.table_path(name)))
            if self._done.get(name) != mark and not self.write(name).why:
                self._done[name] = mark

    def write(self, name: str) -> WrittenMetadata:
        """Write the metadata of one entity. A failure is noted for `tidemark status`."""
        metadata = IcebergMetadata.of(self._warehouse.settings.warehouse, name)
        try:
            tags, why = self._write(name, metadata), ""
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this entity's metadata alone
            tags, why = None, " ".join(str(error).split()) or type(error).__name__
        if why != (self._notes.get(name) or ""):
            self._note(name, why)
        return WrittenMetadata(name, str(metadata.location), tags, why)

    def _write(self, name: str, metadata: IcebergMetadata) -> int | None:
        # A project without Iceberg needs no library for it.
        from tidemark.engines.iceberg.iceberg_table import IcebergTable  # noqa: PLC0415
        from tidemark.engines.iceberg.named_rows import named_rows  # noqa: PLC0415

        table = self._tables.get(name) or IcebergTable(self._warehouse.table_path(name), metadata)
        self._tables[name] = table
        return table.keep(named_rows(self._warehouse, self._registry, name), self._clock())

    def _note(self, name: str, why: str) -> None:
        if why:
            _LOGGER.warning("%s: %s; it is tried again", name, why)
            self._notes.put({name: why})
        else:
            self._notes.remove(name)

    def _told(self) -> tuple[Any, ...]:
        """A value that changes with each transition and each tag."""
        tags = SNAPSHOTS.c
        counts = select(func.count(), func.max(tags.tagged_at), func.sum(tags.version), func.sum(tags.generation))
        with self._registry.database.reading() as connection:
            last = connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar()
            return last, *connection.execute(counts).one()
