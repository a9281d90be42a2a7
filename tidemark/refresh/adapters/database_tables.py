"""Tables and materialized views of a database. One transaction replaces the rows of a slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.compute.business_time import slice_values
from tidemark.delta.delta_rs_table import read_partition
from tidemark.dependency_model.refresh.delivery import RefreshAction
from tidemark.olap.errors import OlapBusyError, OlapDownError
from tidemark.olap.postgres_store import PostgresStore
from tidemark.refresh.errors import TargetDownError

if TYPE_CHECKING:
    from tidemark.olap.store import OlapStore
    from tidemark.refresh.refreshed_slice import RefreshedSlice


class DatabaseTables:
    """Refreshes tables first, because the views read them."""

    def __init__(self, target: str, store: OlapStore) -> None:
        self._target, self._store = target, store

    def deliver(self, refreshed: RefreshedSlice) -> None:
        """See RefreshAdapter. Also raises the store's errors, and errors of lake tables whose rows cannot be read."""
        try:
            for told in refreshed.made:
                if told.table is not None:
                    self._swap(refreshed, told.table, keeps=told.when_invalid == "keep")
            for view in dict.fromkeys(told.view for told in refreshed.made if told.view is not None):
                if isinstance(self._store, PostgresStore):
                    self._store.refresh_view(view)
        except (OlapDownError, OlapBusyError) as error:
            raise TargetDownError.of(self._target, error.found or "") from error

    def _swap(self, refreshed: RefreshedSlice, table: str, *, keeps: bool) -> None:
        partition = slice_values(refreshed.entity, refreshed.slice)
        if refreshed.standing.action is RefreshAction.INVALIDATE:
            if not keeps:
                self._store.remove(table, partition)
            return
        version = refreshed.standing.version
        rows = read_partition(refreshed.table, partition, int(version) if version.isdigit() else None)
        self._store.publish(table, rows, partition)
