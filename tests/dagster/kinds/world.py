"""A small warehouse that runs: declared in a folder, launched by the center, computed by real Dagster runs on Spark."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dagster as dg
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tidemark.center.detectors.told_event import VERSION_KEY
from tidemark.center.in_process_host import InProcessHost
from tidemark.compute.business_time import slice_values
from tidemark.dagster.definitions import warehouse_definitions
from tidemark.dagster.resources import engine_resources
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.replace_partition import replace_partition
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.system.settings import Settings
from tidemark.warehouse.dagster_partition_keys import partition_of
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.center.dispatch import Dispatch
    from tidemark.center.launchers.in_process_runs import StepProgress
    from tidemark.state_store.reader import StateReader

PROJECT = "time_zone: UTC\nstart: 2026-03-23\nend: 2026-03-27\n"
"""Four days, Monday to Thursday."""


@dataclass
class Watched:
    """The slices of each run, in the order in which they were launched."""

    runs: list[tuple[str, ...]] = field(default_factory=list)

    def run_started(self, slices: Sequence[Slice]) -> None:
        self.runs.append(tuple(map(str, slices)))

    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None:
        """Nothing is drawn."""


def declare(folder: Path, files: Mapping[str, str], project: str = PROJECT) -> Path:
    """The declarations `files`, by name with ending, in a folder of one layer."""
    root = folder / "declared"
    (root / "dwd").mkdir(parents=True, exist_ok=True)
    (root / "project.yaml").write_text(project)
    for name, text in files.items():
        (root / "dwd" / name).write_text(text)
    return root


@dataclass
class RunningWarehouse:
    """`started` are the runs of the center so far."""

    spark: SparkSession
    warehouse: Warehouse
    instance: dg.DagsterInstance
    own: tuple[dg.AssetsDefinition, ...] = ()
    watched: Watched = field(default_factory=Watched)

    @functools.cached_property
    def job(self) -> dg.JobDefinition:
        """The job of all assets."""
        return self.definitions(self.own).resolve_implicit_global_asset_job_def()

    def definitions(self, own: Sequence[dg.AssetsDefinition]) -> dg.Definitions:
        """All that a daemon knows, with these assets of others."""
        resources = dg.Definitions(resources=engine_resources(self.warehouse.settings))
        return dg.Definitions.merge(warehouse_definitions(self.warehouse, own), resources)

    @functools.cached_property
    def read(self) -> StateReader:
        return SqlStateReader(Database.of(self.warehouse.settings))

    @functools.cached_property
    def host(self) -> InProcessHost:
        return InProcessHost(self.warehouse, self.job, self.instance, "kinds")

    @functools.cached_property
    def dispatch(self) -> Dispatch:
        return self.host.dispatch(self.watched)

    def run(self) -> list[tuple[str, ...]]:
        """Let the center run all that is ready; the runs that it launched."""
        before = len(self.watched.runs)
        self.host.run_ready(self.dispatch)
        return self.watched.runs[before:]

    def arrive(self, text: str, rows: Sequence[tuple[Any, ...]], columns: str) -> None:
        """Somebody else writes a slice of external data, and tells Dagster."""
        slice_ = Slice.parse(text)
        entity = self.warehouse.entities[slice_.entity]
        frame = self.spark.createDataFrame(list(rows), columns)
        replace_partition(frame, self.warehouse.table_path(slice_.entity), slice_values(entity, slice_))
        self.report(text)

    def arrive_value(self, text: str, value: str) -> None:
        """The same without Spark, for one row: the version that it has is told, too."""
        slice_ = Slice.parse(text)
        partition = slice_values(self.warehouse.entities[slice_.entity], slice_)
        path = str(self.warehouse.table_path(slice_.entity))
        row = pa.table({"v": [value], **{name: [partition[name]] for name in partition}})
        is_new = not DeltaTable.is_deltatable(path)
        condition = " AND ".join(f"{name} = '{partition[name]}'" for name in partition)
        keys = list(partition)
        write_deltalake(path, row, mode="overwrite", partition_by=keys, predicate=None if is_new else condition)
        self.report(text, **{VERSION_KEY: DeltaTable(path).version()})

    def report(self, text: str, **metadata: str | int) -> None:
        """A materialization without a run."""
        slice_ = Slice.parse(text)
        partition = partition_of(self.warehouse.entities[slice_.entity], slice_)
        self.instance.report_runless_asset_event(
            dg.AssetMaterialization(slice_.entity, partition=partition, metadata=metadata)
        )

    def by_hand(self, text: str, tags: Mapping[str, str] | None = None) -> dg.ExecuteInProcessResult:
        """A run as the UI starts it."""
        slice_ = Slice.parse(text)
        return self.job.execute_in_process(
            instance=self.instance,
            partition_key=partition_of(self.warehouse.entities[slice_.entity], slice_),
            asset_selection=[dg.AssetKey(slice_.entity)],
            raise_on_error=False,
            tags=dict(tags or {}),
        )

    def rows(self, text: str, version: int | None = None) -> list[tuple[Any, ...]]:
        """The rows of a slice, as they are or were."""
        slice_ = Slice.parse(text)
        path = self.warehouse.table_path(slice_.entity)
        partition = slice_values(self.warehouse.entities[slice_.entity], slice_)
        rows = read_rows(path, version).to_pylist()
        own = [row for row in rows if all(row.pop(name) == value for name, value in partition.items())]
        return sorted(tuple(row.values()) for row in own)

    def states(self, text: str) -> set[str]:
        """The states that a slice has reached, and what it does."""
        status = self.host.center.status(Slice.parse(text))
        return {status.run_state.value, *status.states}

    def metadata(self, text: str) -> dict[str, Any]:
        """What the newest materialization of a slice tells."""
        slice_ = Slice.parse(text)
        partition = partition_of(self.warehouse.entities[slice_.entity], slice_)
        keys = [partition] if partition else None
        wanted = dg.AssetRecordsFilter(dg.AssetKey([slice_.entity]), asset_partitions=keys)
        record = self.instance.fetch_materializations(wanted, limit=1).records[0]
        assert record.asset_materialization is not None
        return {name: value.value for name, value in record.asset_materialization.metadata.items()}

    def has_table(self, name: str) -> bool:
        return DeltaTable.is_deltatable(str(self.warehouse.table_path(name)))


@contextmanager
def running(
    spark: SparkSession,
    folder: Path,
    files: Mapping[str, str],
    own: Sequence[dg.AssetsDefinition] = (),
    project: str = PROJECT,
) -> Iterator[RunningWarehouse]:
    """The warehouse of these declarations on a Dagster instance of its own."""
    warehouse = load_warehouse(Settings.at(folder / "data"), declare(folder, files, project))
    with dg.DagsterInstance.ephemeral() as instance:
        yield RunningWarehouse(spark, warehouse, instance, tuple(own))
