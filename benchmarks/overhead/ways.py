"""Three ways to compute a slice that was computed before: each writes the same rows again."""

from __future__ import annotations

import functools
import shutil
import time
import uuid
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.lake_folder import lake_folder
from tidemark.center.launchers.job_subsets import JobSubsets
from tidemark.center.launchers.run_tags import asset_keys, run_tags
from tidemark.compute import slice_computer
from tidemark.compute.business_time import partition_values, slice_values, sql_parameters
from tidemark.compute.input_views import Inputs
from tidemark.compute.table_version_tags import readable_snapshot
from tidemark.dagster.definitions import build_definitions
from tidemark.dagster_internals.execution import InMemoryJob, execute_run_iterator
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.delta.partition_predicate import partition_predicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import dagster as dg

    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.warehouse.warehouse import Warehouse

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class BarePySpark:
    """What a script would do that knows all versions and partitions, and checks nothing."""

    def __init__(self, runtime: Runtime, folder: Path) -> None:
        self._runtime, self._folder = runtime, folder
        self._warehouse, self._session = runtime.warehouse, runtime.spark.newSession()
        self._inputs: dict[Slice, list[tuple[str, list[tuple[int | None, Mapping[str, Any]]]]]] = {}

    def compute(self, slice_: Slice) -> None:
        path = self._folder / slice_.entity
        if slice_ not in self._inputs:  # a script has it written down
            self._inputs[slice_] = self._look_up(slice_)
            if not path.exists():
                shutil.copytree(lake_folder(self._warehouse.table_path(slice_.entity)), path)
        for name, reads in self._inputs[slice_]:
            self._frame(name, reads).createOrReplaceTempView(name)
        result = self._session.sql(
            self._warehouse.queries[slice_.entity], args=dict(sql_parameters(self._warehouse.graph, slice_))
        )
        partition = slice_values(self._warehouse.entities[slice_.entity], slice_)
        rows = result.withColumns({name: _literal(value) for name, value in partition.items()})
        writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", partition_predicate(partition))
        writer.save(str(path))

    def _look_up(self, slice_: Slice) -> list[tuple[str, list[tuple[int | None, Mapping[str, Any]]]]]:
        manifest = _manifest(self._runtime, slice_)
        return [(name, [self._read(used.slice) for used in used_of]) for name, used_of in manifest.used_slices.items()]

    def _read(self, used: Slice) -> tuple[int | None, Mapping[str, Any]]:
        if self._warehouse.is_snapshot(used.entity):
            version = readable_snapshot(self._warehouse, self._runtime.registry, used).version
            return version, partition_values(str(self._warehouse.entities[used.entity].period), used.key)
        return None, slice_values(self._warehouse.entities[used.entity], used)

    def _frame(self, name: str, reads: Sequence[tuple[int | None, Mapping[str, Any]]]) -> DataFrame:
        path = str(self._warehouse.table_path(name))
        reader = self._session.read.format("delta")
        if not reads or reads[0][0] is None:
            wanted = " OR ".join(f"({partition_predicate(partition)})" for _, partition in reads) or "FALSE"
            return reader.load(path).where(wanted)
        frames = [
            self._session.read.format("delta")
            .option("versionAsOf", version or 0)
            .load(path)
            .withColumns({column: _literal(value) for column, value in times.items()})
            for version, times in reads
        ]
        return functools.reduce(DataFrame.unionByName, frames)


class DagsterRuns:
    """A run a slice, with the manifest that the center gave it when it was launched first."""

    def __init__(self, warehouse: Warehouse, runtime: Runtime, instance: dg.DagsterInstance) -> None:
        self._warehouse, self._runtime, self._instance = warehouse, runtime, instance
        keep_connections(instance)
        self._jobs = JobSubsets(build_definitions(warehouse).resolve_implicit_global_asset_job_def())

    def execute(self, slice_: Slice) -> None:
        keys = asset_keys([slice_])
        launch = self._runtime.state.launches([slice_])[slice_]
        job, run_id = self._jobs.of(keys), str(uuid.uuid4())
        tags = run_tags(self._warehouse.graph, str(launch.facts.run_id), [slice_], "default")
        run = self._instance.create_run_for_job(job, run_id=run_id, run_config=_QUIET, tags=tags, asset_selection=keys)
        for event in execute_run_iterator(InMemoryJob(job), run, self._instance):
            assert not event.is_failure, event


class PhaseTimes:
    """Wall seconds of the computer's phases, by name."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within, what the computer calls is timed."""
        with ExitStack() as stack:
            begun = time.perf_counter()
            for name in ("replace_partitions", "audit", "first_rows_written"):
                timed = self._timed(name, getattr(slice_computer, name))
                stack.enter_context(patch.object(slice_computer, name, timed))
            stack.enter_context(patch.object(Inputs, "query", self._timed("query", Inputs.query)))
            yield
            self._seconds["all"].append(time.perf_counter() - begun)

    def shares(self) -> dict[str, float]:
        """Of the whole, the first half of the calls left out: the JVM was not warm."""
        sums = {name: sum(seconds[len(seconds) // 2 :]) for name, seconds in self._seconds.items()}
        return {name: round(seconds / sums["all"], 2) for name, seconds in sums.items() if name != "all"}

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self._seconds[name].append(time.perf_counter() - begun)

        return timed


def _manifest(runtime: Runtime, slice_: Slice) -> SliceManifest:
    manifest = runtime.state.launches([slice_])[slice_].facts.manifest
    assert manifest is not None
    return manifest


def _literal(value: PartitionValue) -> Any:
    return F.lit(value)
