"""The inputs of a slice: each upstream is a view of exactly the slices that the dependency graph allows.

A query cannot read a partition or version that it did not declare. So a wrong dependency shows as a wrong result in the
first test, not as a race in production.
"""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.snapshots.late.snapshot_with_late_changes import with_late_changes
from tidemark.compute.business_time import slice_values, sql_parameters, time_values
from tidemark.compute.entity_query_result import empty, has_columns, query_result
from tidemark.compute.errors import RowsMissingError
from tidemark.compute.external_rows import READ, ExternalRows
from tidemark.compute.table_version_tags import readable_snapshot
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.delta.delta_rs_table import TableLog, is_readable, read_table
from tidemark.delta.newest_table import NewestTable
from tidemark.delta.partition_predicate import literal
from tidemark.delta.version_reader import VersionReader
from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse


class Inputs:
    """Registers the inputs of slices as temporary views of one session."""

    def __init__(self, session: SparkSession, warehouse: Warehouse, registry: SnapshotRegistry) -> None:
        self._session = session
        self._warehouse = warehouse
        self._registry = registry
        self._versions = VersionReader(session)
        self._views: dict[Slice, dict[str, DataFrame]] = {}
        self._manifests: Mapping[Slice, SliceManifest] = {}
        self._judged: Mapping[Slice, TaggedSnapshot] = {}
        self._read: set[str] = set()
        self._newest_tables: dict[TableLocation, NewestTable] = {}
        self._external = ExternalRows(session, warehouse, ConnectionSecrets.of(warehouse.settings, os.environ))

    @property
    def read_tables(self) -> frozenset[str]:
        """The upstreams with rows since `forget`; the other views are empty."""
        return frozenset(self._read)

    def grant(self, manifests: Mapping[Slice, SliceManifest]) -> None:
        """Sets the manifests that these slices read from now on.

        Slices without one read their declared inputs, as they are now.
        """
        self._manifests = manifests

    def judge(self, snapshots: Mapping[Slice, TaggedSnapshot]) -> None:
        """Sets the versions of captured slices, tagged or not, for the run that judges them."""
        self._judged = snapshots

    def forget(self) -> None:
        """Drops views and versions: later views read the tables of that time."""
        self._views.clear()
        self._read.clear()
        self._newest_tables.clear()

    def register(self, slice_: Slice) -> None:
        """Makes every upstream of `slice_` a view under its own name. Raises SnapshotMissingError, RowsMissingError.

        A slice keeps its views until `forget`: a reconciliation reads the rows that the slice was made from.
        """
        if slice_ not in self._views:
            required = self._required(slice_).items()
            self._views[slice_] = {name: self._view(slice_, name, used) for name, used in required}
        for name, view in self._views[slice_].items():
            view.createOrReplaceTempView(name)

    def written_rows(self, slices: Sequence[Slice]) -> int:
        """The approximate rows that slices of one entity read, from their tables' logs, each input counted once.

        Raises SnapshotMissingError.
        """
        used: dict[str, dict[Slice, None]] = {}
        for slice_ in slices:
            for name, inputs in self._required(slice_).items():
                used.setdefault(name, {}).update(dict.fromkeys(input_.slice for input_ in inputs))
        return sum(self._written_rows(name, list(inputs)) for name, inputs in used.items() if inputs)

    def _written_rows(self, name: str, slices: Sequence[Slice]) -> int:
        path, entity = self._warehouse.table_path(name), self._warehouse.entities[name]
        if self._warehouse.is_snapshot(name):
            return sum(TableLog.of(path, self.snapshot_tag(slice_).version).written_rows() for slice_ in slices)
        table = self._newest(path)
        if table is None:
            return 0
        return table.written_rows(() if entity.is_static else [slice_values(entity, slice_) for slice_ in slices])

    def _newest(self, path: TableLocation) -> NewestTable | None:
        """A table at its version of the first use since `forget`; None if it does not exist."""
        known = self._newest_tables
        if path not in known and (table := NewestTable.if_there(self._session, path)) is not None:
            known[path] = table
        return known.get(path)

    def _required(self, slice_: Slice) -> dict[str, Sequence[UsedSlice]]:
        """The slices to read, by upstream with a table; empty for upstreams of the slice's other states."""
        entity, manifest = self._warehouse.entities[slice_.entity], self._manifests.get(slice_)
        others = {dependency.entity: () for state in entity.states for dependency in state.depends_on}
        used: Mapping[str, Sequence[UsedSlice]] = manifest.used_slices if manifest else self._declared(slice_)
        return {
            name: slices
            for name, slices in {**others, **used}.items()
            if has_rows(self._warehouse, name) and (not self._warehouse.is_external(name) or self._names(slice_, name))
        }

    def _names(self, reader: Slice, name: str) -> bool:
        """Whether the reader's SQL, function or rules name an upstream. Other upstreams are not fetched."""
        function, entity = self._warehouse.functions.get(reader.entity), self._warehouse.entities[reader.entity]
        if function is not None and name in function.tables:
            return True
        text = f"{self._warehouse.queries.get(reader.entity, '')} {entity.quality} {entity.quality_on_anomaly}"
        return re.search(rf"(?i)\b{re.escape(name)}\b", text) is not None

    def _declared(self, slice_: Slice) -> dict[str, list[UsedSlice]]:
        required = required_slices(self._warehouse, slice_)
        return {name: [UsedSlice(input_, 1) for input_ in slices] for name, slices in required.items()}

    def view(self, name: str, slice_: Slice) -> DataFrame:
        """The rows of an upstream that the slice reads. Raises EntityError for another upstream."""
        self.register(slice_)
        if name not in self._views[slice_]:
            raise EntityError(f"{slice_.entity} does not read it", found=name)
        return self._views[slice_][name]

    def query(self, slice_: Slice) -> DataFrame:
        """The result of the entity's SQL or function over its inputs, for the slice's business time."""
        self.register(slice_)
        return query_result(self._session, self._warehouse, slice_)

    def sql(self, text: str, slice_: Slice) -> DataFrame:
        """The result of the SELECT in `text` with the parameters of `slice_`."""
        runs = self._warehouse.sql.read(text, f"{slice_.entity}.yaml").runs
        return self._session.sql(runs, args=dict(sql_parameters(self._warehouse.graph, slice_)))

    def _view(self, reader: Slice, name: str, used: Sequence[UsedSlice]) -> DataFrame:
        """A view, without rows only if no slices are read; a missing table is an error."""
        slices = [input_.slice for input_ in used]
        if not slices:
            return empty(self._session, self._warehouse, name)
        if self._warehouse.is_snapshot(name):
            self._read.add(name)
            return self.snapshots(slices)
        path, entity = self._warehouse.table_path(name), self._warehouse.entities[name]
        newest = self._newest(path)
        if self._warehouse.is_external(name) and (newest is None or self._lies_elsewhere(name)):
            self._read.add(name)
            return self._external.rows(name, used)
        if newest is None:
            if self._may_be_without(reader, name):
                return empty(self._session, self._warehouse, name)
            raise RowsMissingError.of(reader, name, slices, str(path), "no table")
        self._read.add(name)
        partitions = None if entity.is_static else [slice_values(entity, slice_) for slice_ in slices]
        table = self._table(path, newest, used, partitions)
        return table if partitions is None else table.where(any_of(partitions))

    def _lies_elsewhere(self, name: str) -> bool:
        """Whether an external entity's probe looks at other rows than the table with its name here."""
        probe, path = self._warehouse.entities[name].probe, self._warehouse.table_path(name)
        if probe is None or probe.kind not in READ:
            return False
        return probe.delta is None or not self._external.is_at(probe.delta, path)

    def _may_be_without(self, reader: Slice, name: str) -> bool:
        """Whether a table may be missing: without a manifest, if the reader does not require it or writes it itself."""
        if reader in self._manifests:
            return False
        declared = (
            dependency
            for state in self._warehouse.entities[reader.entity].states
            for dependency in state.depends_on
            if dependency.entity == name
        )
        return name == reader.entity or all(dependency.weak is not None for dependency in declared)

    def _table(
        self,
        path: TableLocation,
        newest: NewestTable,
        used: Sequence[UsedSlice],
        partitions: Sequence[Mapping[str, PartitionValue]] | None,
    ) -> DataFrame:
        """The newest of the slices' versions; the present partitions if a version is not known."""
        versions = [int(input_.version) for input_ in used if input_.version.isdecimal()]
        is_newest = len(versions) == len(used) and max(versions) == newest.version  # Spark has this version loaded
        if len(versions) < len(used) or is_newest or not is_readable(path, max(versions)):
            return newest.rows(partitions)
        return self._versions.read(path, max(versions))

    def rows_of(self, used: Sequence[UsedSlice]) -> DataFrame:
        """The present rows of existing slices of one entity. Raises RowsMissingError."""
        slice_ = used[0].slice
        path = self._warehouse.table_path(slice_.entity)
        if not self._warehouse.is_external(slice_.entity) and self._newest(path) is None:
            raise RowsMissingError.of(slice_, slice_.entity, [slice_], str(path), "no table")
        return self._view(slice_, slice_.entity, used)

    def snapshots(self, slices: Sequence[Slice]) -> DataFrame:
        """The captured table's versions of these slices, with the columns of their business time last."""
        whole = functools.reduce(_union, (self._snapshot(slice_) for slice_ in slices))
        times = [column.name for column in self._warehouse.entities[slices[0].entity].times]
        return whole.select(*(name for name in whole.columns if name not in times), *times)

    def _snapshot(self, slice_: Slice) -> DataFrame:
        """The captured table's version of a slice, with its business time as columns."""
        times = time_values(self._warehouse.entities[slice_.entity], slice_)
        tagged = self.snapshot_tag(slice_)
        table = self._versions.read(self._warehouse.table_path(slice_.entity), tagged.version)
        rows = self._with_late_changes(table, slice_, tagged) if tagged.is_restated else table
        return rows.withColumns({name: literal(value) for name, value in times.items()})

    def _with_late_changes(self, version: DataFrame, slice_: Slice, tagged: TaggedSnapshot) -> DataFrame:
        captured = self._warehouse.captured_table_of(slice_.entity)
        late = read_table(self._session, late_path(self._warehouse.settings.warehouse, captured.name))
        end_ms = int(self._warehouse.graph.window(slice_).end.timestamp() * 1000)
        return with_late_changes(version, late, ("_shard", *captured.key), end_ms, tagged.late_batch)

    def snapshot_tag(self, slice_: Slice) -> TaggedSnapshot:
        """The version that is tagged for the slice, or that is judged for it. Raises SnapshotMissingError."""
        if slice_ in self._judged:
            return self._judged[slice_]
        return readable_snapshot(self._warehouse, self._registry, slice_)


def has_rows(warehouse: Warehouse, name: str) -> bool:
    """Whether queries can read an upstream. A project's root or end, and external data without rows, cannot be read."""
    entity = warehouse.entities.get(name)
    if entity is None or entity.is_project:
        return False
    if not warehouse.is_external(name) or has_columns(warehouse, name):
        return True
    return entity.probe is not None and entity.probe.kind in READ


def required_slices(warehouse: Warehouse, slice_: Slice) -> dict[str, tuple[Slice, ...]]:
    """The slices of each upstream that `slice_` reads, over all its dependencies, in order of time."""
    merged: dict[str, dict[Slice, None]] = {}
    for requirement in warehouse.graph.requirements(slice_):
        merged.setdefault(requirement.dependency.entity, {}).update(dict.fromkeys(requirement.slices))
    return {name: tuple(sorted(slices, key=lambda slice_: slice_.key)) for name, slices in merged.items()}


def any_of(partitions: Iterable[Mapping[str, object]]) -> Column:
    """A predicate on partition columns, by which Delta prunes files."""
    partitions = list(partitions)
    if len(partitions[0]) == 1:
        (name,) = partitions[0]
        return F.col(name).isin([values[name] for values in partitions])
    return functools.reduce(lambda a, b: a | b, map(_equals, partitions))


def _equals(values: Mapping[str, object]) -> Column:
    return functools.reduce(lambda a, b: a & b, (F.col(name) == F.lit(value) for name, value in values.items()))


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right, allowMissingColumns=True)
