"""Slices as they were at a past instant, in Spark: read at exactly the versions that were reported by then (D8).

A version can be read while its files exist: for captured tables the tagged versions, for computed tables until VACUUM
deletes files that no later version has. While a process holds a version that it opened here, VACUUM on any host keeps
the version. Missing files are an error: a part of a slice's rows is never returned as the whole.
"""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from tidemark.compute.business_time import slice_values, time_values
from tidemark.compute.errors import NothingThereThenError, SnapshotRestatedError
from tidemark.delta.delta_rs_table import files_gone, is_readable, read_table
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.partition_predicate import literal, partition_predicate, partitions_last
from tidemark.dependency_model.status import Event
from tidemark.state_store.version_claims import reading
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.slice import Slice

_BY_CAPTURE: Final = "capture"


class PastSlices:
    """Past slices of a warehouse, in one session."""

    def __init__(self, session: SparkSession, runtime: Runtime) -> None:
        self._session, self._runtime = session, runtime
        self._claims, self._claimed = ExitStack(), set[tuple[str, int]]()
        weakref.finalize(self, self._claims.close)

    def read(self, slice_: Slice, when: datetime) -> DataFrame | None:
        """The rows at `when` (aware), business time last; None if they are those of the present tag.

        Raises NothingThereThenError if nothing was written by then, VersionGoneError if the version was not kept, and
        SnapshotRestatedError if it was restated by then and again later.
        """
        warehouse = self._runtime.warehouse
        warehouse.graph.window(slice_)
        is_snapshot = warehouse.is_snapshot(slice_.entity)
        if is_snapshot and self._is_restated_as_now(slice_, when):
            return None
        version, path = self._version(slice_, when), warehouse.table_path(slice_.entity)
        partition = {} if is_snapshot else slice_values(warehouse.entities[slice_.entity], slice_)
        self._claim(str(path), version)
        if not is_readable(path, version):
            raise VersionGoneError.log(path, version, "the log no longer has it")
        gone, wanted = files_gone(path, version, partition)
        if gone:
            raise VersionGoneError.files(path, version, gone, wanted)
        rows = read_table(self._session, path, version)
        if not is_snapshot:
            return partitions_last(rows.where(partition_predicate(partition)), partition) if partition else rows
        times = time_values(warehouse.entities[slice_.entity], slice_)
        return rows.drop(*times).withColumns({name: literal(value) for name, value in times.items()})

    def _claim(self, location: str, version: int) -> None:
        if (location, version) not in self._claimed:
            who = f"process {os.getpid()} on {socket.gethostname()}"
            self._claims.enter_context(reading(self._runtime.database, location, version, who))
            self._claimed.add((location, version))

    def _version(self, slice_: Slice, when: datetime) -> int:
        history = self._runtime.state.history(slice_)
        told = [step.facts.snapshot_id for step in history if step.record_time <= when and step.facts.snapshot_id]
        if not told or not told[-1].isdecimal():
            raise NothingThereThenError.of(slice_, when, told[-1] if told else "")
        return int(told[-1])

    def _is_restated_as_now(self, slice_: Slice, when: datetime) -> bool:
        """Whether late changes had been added by then, and are the same as now."""
        tagged = self._runtime.registry.get(
            slice_.entity, period_of(self._runtime.warehouse.graph, slice_.entity), slice_.key
        )
        if tagged is None or not tagged.is_restated:
            return False
        asked = [
            step
            for step in self._runtime.state.history(slice_)
            if step.event is Event.BACKFILL_REQUESTED and step.who == _BY_CAPTURE
        ]
        by_then = sum(step.record_time <= when for step in asked)
        if 0 < by_then < len(asked):
            raise SnapshotRestatedError.of(slice_, tagged.version)
        return by_then > 0
