"""Snapshots in a notebook: `from tidemark.reader import snapshot`, then `snapshot("ods_orders", "2026-03-29")`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def snapshot(entity: str, slice_key: str) -> DataFrame:
    """A captured table as it was at the end of a slice, late changes of a restated one included.

    Raises SnapshotMissingError.
    """
    return _snapshots().read(entity, slice_key)


def sql(text: str) -> DataFrame:
    """A query in which `snapshot('ods_orders', '2026-03-29')` stands for a table. Raises SnapshotMissingError."""
    return _snapshots().sql(text)


@functools.cache
def _snapshots() -> Snapshots:
    """Of the project that the process works in, with the process's Spark."""
    return Snapshots.of(Runtime(load_warehouse(Settings.load())))
