"""Snapshots in a notebook: `from tidemark.reader import snapshot`, then `snapshot("ods_orders", "2026-03-29")`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame


def snapshot(entity: str, slice_key: str, *, as_of: datetime | None = None) -> DataFrame:
    """Read a slice.

    A slice of a captured table is the whole table at its end; a restated one includes late changes.

    With `as_of` (aware), the result is the slice at that time, as a dashboard would have read it then.

    Raises SnapshotMissingError, and InputMissingError if nothing was computed yet. With `as_of`, raises
    NothingThereThenError if the slice did not exist then, VersionGoneError if that version is no longer kept, and
    ValueError for a time without a zone.
    """
    if as_of is None:
        return _snapshots().read(entity, slice_key)
    if as_of.tzinfo is None:
        raise ValueError("as_of needs a time zone: datetime(2026, 3, 31, 10, tzinfo=UTC)")
    return _snapshots().read_as_of(entity, slice_key, as_of)


def sql(text: str) -> DataFrame:
    """Run a query in which `snapshot('ods_orders', '2026-03-29')` is a table. Raises SnapshotMissingError."""
    return _snapshots().sql(text)


def quality_results(entity: str | None = None, most: int = 1_000_000) -> DataFrame:
    """What the quality rules said of slices, of all entities or one, the last judged first.

    Also the view `quality_results` from now on, for queries with `sql`. Raises StateStoreDownError.
    """
    return _snapshots().quality_results(entity, most)


@functools.cache
def _snapshots() -> Snapshots:
    """The snapshots of the current project, with the process's Spark session."""
    return Snapshots.of(Runtime(load_warehouse(Settings.load())))
