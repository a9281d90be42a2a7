"""The Delta table, version and partition where another engine finds the rows of a slice or tag.

The state store and the table's log give the location; Spark is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.catalog.catalog import Catalog
from tidemark.catalog.told_data import NOTHING, told_data
from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import InputMissingError, SnapshotRestatedError
from tidemark.compute.table_version_tags import readable_snapshot, version_of_tag
from tidemark.delta.delta_rs_table import current_version, files_gone, is_readable
from tidemark.delta.errors import NotADeltaTableError, VersionGoneError
from tidemark.delta.file_statistics import require_table
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.slice import Slice
from tidemark.engines.errors import NoSliceToReadError

if TYPE_CHECKING:
    from deltalake.schema import Schema

    from tidemark.compute.runtime import Runtime
    from tidemark.delta.delta_rs_table import Partition
    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class SliceLocation:
    """`name` is the slice's key or the tag's name. With an empty `partition`, all rows of the version belong to it."""

    entity: str
    name: str
    table: TableLocation
    version: int
    partition: Partition
    schema: Schema


def slice_location(runtime: Runtime, entity: str, slice_key: str | None) -> SliceLocation:
    """Locate a slice, by default the newest complete one.

    Raises UnknownEntityError, ParseError, NotADeltaTableError, NoSliceToReadError, InputMissingError,
    SnapshotMissingError, SnapshotRestatedError and VersionGoneError.
    """
    table = _table(runtime, entity)
    slice_ = _newest(runtime, entity) if slice_key is None else Slice.parse(f"{entity}@{slice_key}")
    runtime.warehouse.graph.window(slice_)
    if runtime.warehouse.is_snapshot(entity):
        return _located(entity, slice_.key, table, _tagged_version(runtime, slice_, table), {})
    partition = slice_values(runtime.warehouse.entities[entity], slice_)
    version = _told_version(runtime, slice_, table, partition)
    return _located(entity, str(slice_).partition("@")[2], table, version, partition)


def tag_location(runtime: Runtime, entity: str, tag: str) -> SliceLocation:
    """Locate the version that a tag names; all of its rows belong to the tag.

    Raises UnknownEntityError, NotADeltaTableError, RepairSourceError and VersionGoneError.
    """
    table = _table(runtime, entity)
    version = version_of_tag(runtime.warehouse, runtime.registry, entity, tag)
    _require_version(table, version)
    return _located(entity, tag, table, version, {})


def _table(runtime: Runtime, entity: str) -> TableLocation:
    runtime.warehouse.graph.entity(entity)
    table = runtime.warehouse.table_path(entity)
    try:
        require_table(table)
    except NotADeltaTableError:
        if runtime.warehouse.is_external(entity):
            raise NoSliceToReadError.external(entity) from None
        raise
    return table


def _newest(runtime: Runtime, entity: str) -> Slice:
    """The newest complete slice."""
    if runtime.warehouse.is_snapshot(entity):
        period = str(runtime.warehouse.entities[entity].period)
        tags = runtime.registry.of(entity, period)
        complete = [Slice(entity, tag.slice) for tag in reversed(tags) if not tag.waits_for_late]
    else:
        page = Catalog(runtime.warehouse.graph, runtime.database).page(entity)
        complete = [slice_.slice for slice_ in page.slices if COMPLETED in slice_.states]
    if not complete:
        raise NoSliceToReadError.of(entity)
    return complete[0]


def _tagged_version(runtime: Runtime, slice_: Slice, table: TableLocation) -> int:
    tagged = readable_snapshot(runtime.warehouse, runtime.registry, slice_)
    if tagged.is_restated:
        raise SnapshotRestatedError.of(slice_, tagged.version)
    _require_version(table, tagged.version)
    return tagged.version


def _told_version(runtime: Runtime, slice_: Slice, table: TableLocation, partition: Partition) -> int:
    """The version that the slice's run reported, or the newest one if that is unknown or its files are vacuumed."""
    current = runtime.state.current(slice_)
    if current is None or COMPLETED not in current.status.states:
        raise InputMissingError.of(slice_, [slice_])
    told = told_data(runtime.database, [slice_]).get(slice_, NOTHING).version
    if told is not None and is_readable(table, told) and not files_gone(table, told, partition)[0]:
        return told
    newest = current_version(table)
    if newest is None:
        raise NotADeltaTableError.at(table)
    return newest


def _require_version(table: TableLocation, version: int) -> None:
    if not is_readable(table, version):
        raise VersionGoneError.log(table, version, f"a log that ends at version {current_version(table)}")


def _located(entity: str, name: str, table: TableLocation, version: int, partition: Partition) -> SliceLocation:
    return SliceLocation(entity, name, table, version, partition, open_table(table, version).schema())
