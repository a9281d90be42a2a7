"""Computes a slice: inputs as views, the entity's SQL, files written and checked, one partition replaced.

A captured table's slice is a version. It is judged, and tagged if its blocking rules hold (A5).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tidemark.compute.business_time import slice_values
from tidemark.compute.changed_rows import can_be_narrowed, changed_rows, judged_state
from tidemark.compute.errors import QualityError
from tidemark.compute.input_views import Inputs
from tidemark.compute.kept_results import JudgedVersion
from tidemark.compute.quality_checks import Audit
from tidemark.compute.quarantine import quarantined
from tidemark.compute.rule_surroundings import Surroundings
from tidemark.compute.run_fence import pass_always
from tidemark.compute.slice_clock import TIME_ZONE, by_clock, clock_of, comparable_plan, require_same_rules
from tidemark.compute.slice_clock import UTC as UTC_CLOCK
from tidemark.compute.staged_audit import StagedAudit
from tidemark.compute.table_version_tags import judged_snapshot
from tidemark.delta.delta_rs_table import TableLog, first_rows, read_table, table_metrics
from tidemark.delta.file_rows import as_arrow, first_rows_of, first_rows_written
from tidemark.delta.partition_predicate import partition_predicate, partitions_last
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.entity.quality_rules import check_names, goes_by_clock
from tidemark.spark.session import runs_here
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.state_store.snapshot_candidates import CandidateVerdict
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.compute.changed_rows import ChangedRows
    from tidemark.compute.run_fence import RunFence
    from tidemark.delta.clustering.usage_recorder import UsageRecorder
    from tidemark.delta.delta_rs_table import TableMetrics
    from tidemark.delta.partition_overwrite import Replaced, WrittenRows
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.state_store.rule_results import RuleResults
    from tidemark.state_store.slice_profiles import SliceProfiles
    from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse


SAMPLE_ROWS: Final = 8
SAMPLED_SNAPSHOTS: Final = 31
_TABLES_A_JOB: Final = 8


@dataclass(frozen=True)
class ComputedSlice:
    """A slice as it is in storage. `seconds` is its share of the step's time, `sample` some of its rows.

    A slice that is not published broke a rule, and its table is unchanged. `metrics` are then those of the refused
    rows, and `aside` are their files in the table's folder, which stay for inspection until a vacuum.
    """

    slice: Slice
    path: TableLocation
    metrics: TableMetrics
    seconds: float
    audit: Audit
    sample: pa.Table | None
    is_published: bool = True
    aside: tuple[str, ...] = ()


class Computer:
    """Computes slices in its own Spark session. It is not safe between threads."""

    def __init__(
        self,
        spark: SparkSession,
        warehouse: Warehouse,
        registry: SnapshotRegistry,
        usage: UsageRecorder,
        profiles: SliceProfiles,
        results: RuleResults,
    ) -> None:
        self._session = spark.newSession()
        self._warehouse, self._registry = warehouse, registry
        self._inputs = Inputs(self._session, warehouse, registry)
        self._around = Surroundings(self._inputs, warehouse, registry, profiles)
        self._usage, self._is_here = usage, runs_here(warehouse.settings)
        self._audits, self._results = StagedAudit(warehouse, profiles, results, self._around), results

    def compute(
        self,
        slices: Sequence[Slice],
        manifests: Mapping[Slice, SliceManifest] = MappingProxyType({}),
        fence: RunFence = pass_always,
    ) -> list[ComputedSlice]:
        """Computes, writes, checks and publishes slices of one SQL entity; independent slices share one commit.

        Rules check the files before they are published. A slice that breaks a rule is not published, and later slices
        that read it are not computed. A slice with a manifest reads the inputs in it, another one its declared inputs.
        `fence` raises an error if nothing may be published any more. Raises SnapshotMissingError, SchemaChangedError,
        ZoneRulesError.
        """
        self._inputs.grant(manifests)
        reads_itself = slices[0].entity in {dependency.entity for dependency in self._entity(slices[0]).depends_on}
        batches = [[slice_] for slice_ in slices] if reads_itself else [list(slices)]
        done: list[ComputedSlice] = []
        for batch in batches:
            done += self._compute(batch, fence)
            if reads_itself and not done[-1].is_published:
                break
        return done

    def _compute(self, slices: list[Slice], fence: RunFence) -> list[ComputedSlice]:
        started = time.monotonic()
        path = self._warehouse.table_path(slices[0].entity)
        written, audits = self._write(slices, path, fence)
        published = (slice_ for slice_, is_there in zip(slices, written.published, strict=True) if is_there)
        self._audits.keep(audits, dict.fromkeys(published, written.version))
        samples = first_rows_written(path, [self._partition(slice_) for slice_ in slices], written, SAMPLE_ROWS)
        seconds = (time.monotonic() - started) / len(slices)
        return [
            ComputedSlice(slice_, path, metrics, seconds, audits[slice_], sample, is_there, aside)
            for slice_, metrics, sample, is_there, aside in zip(
                slices, written.metrics, samples, written.published, written.aside, strict=True
            )
        ]

    def stage(self, slices: Sequence[Slice], path: TableLocation) -> dict[Slice, Audit]:
        """Computes slices of one entity from their declared inputs into the table at `path`, in one commit.

        Nothing is stored about them. Raises QualityError if a blocking rule fails, and the errors of `compute`.
        """
        written, audits = self._write(slices, path, pass_always)
        refused = [slice_ for slice_, is_there in zip(slices, written.published, strict=True) if not is_there]
        if refused:
            raise QualityError.of(refused[0], audits[refused[0]].broken, refused[1:])
        return audits

    def _write(
        self, slices: Sequence[Slice], path: TableLocation, fence: RunFence
    ) -> tuple[Replaced, dict[Slice, Audit]]:
        """Writes and judges slices, and publishes the ones whose rules hold."""
        self._inputs.forget()
        require_same_rules(self._warehouse, slices, self._goes_by_clock)
        partitions = [self._partition(slice_) for slice_ in slices]
        parts = [(part, self._query(slice_)) for part, slice_ in zip(partitions, slices, strict=True)]
        by_partition = {tuple(part.values()): slice_ for part, slice_ in zip(partitions, slices, strict=True)}
        audits: dict[Slice, Audit] = {}

        def release(written: WrittenRows) -> list[bool]:
            files = dict(zip(slices, written.files, strict=True)) if written.files and self._is_here else None
            audits.update(self._judge(written.rows, by_partition, files))
            fence()
            return [not audits[slice_].blocks for slice_ in slices]

        with self._clock(slices[0]), settings(self._session, worth_compiling(self._inputs.written_rows(slices))):
            written = replace_partitions(parts, path, release, fence)
        self._usage.ran((slices[0].entity, self._inputs.read_tables), parts[-1][1], len(parts))
        return written, audits

    def rows_of(self, slice_: Slice) -> DataFrame:
        """The rows that the slice would be computed to, without writing. Raises SnapshotMissingError."""
        self._inputs.forget()
        return self._query(slice_)

    def _query(self, slice_: Slice) -> DataFrame:
        """The query, analysed on the slice's clock: sub-partitions of one run may have different clocks."""
        with self._clock(slice_):
            return self._inputs.query(slice_)

    def _goes_by_clock(self, slice_: Slice) -> bool:
        """Whether rows or rules may differ on UTC's clock. A Python function is assumed to."""
        rules = self._entity(slice_).quality
        if slice_.entity in self._warehouse.functions or any(map(goes_by_clock, rules)):
            return True
        with settings(self._session, UTC_CLOCK):
            in_utc = comparable_plan(self._inputs.query(slice_))
        return comparable_plan(self._query(slice_)) != in_utc

    def _clock(self, slice_: Slice) -> AbstractContextManager[None]:
        return settings(self._session, clock_of(self._warehouse.graph, slice_))

    def check_rows(self, slice_: Slice, rows: DataFrame) -> Audit:
        """The results of the rules for rows of a future slice, partition columns last. Raises SnapshotMissingError."""
        self._inputs.forget()
        by_partition = {tuple(self._partition(slice_).values()): slice_}
        return self._judge(rows, by_partition)[slice_]

    def _judge(
        self,
        rows: DataFrame,
        slices: Mapping[tuple[PartitionValue, ...], Slice],
        files: Mapping[Slice, Sequence[Path]] | None = None,
    ) -> dict[Slice, Audit]:
        """The results of the rules for slices of one entity; rows that break a rule with `quarantine` are kept.

        `files` have the rows of each slice and are readable on this machine; None if not known.
        """
        entity = self._entity(next(iter(slices.values())))
        audits: dict[Slice, Audit] = {}
        for some in by_clock(self._warehouse.graph, slices):
            with self._clock(next(iter(some.values()))):
                told = self._audits.audit(entity, rows, some, files=files)
                audits.update(quarantined(entity.quality, told, rows, some, self._around))
        return audits

    def check_stored_slice(self, slice_: Slice, told: Audit | None = None) -> ComputedSlice:
        """Checks and describes a slice as it is in storage, without writing. Raises SnapshotMissingError.

        `told` has earlier results of the rules for the same rows.
        """
        started = time.monotonic()
        path, partition = self._warehouse.table_path(slice_.entity), self._partition(slice_)
        metrics = table_metrics(path, partition)
        rows = read_table(self._session, path, metrics.version)
        if told is None:
            own = rows.where(partition_predicate(partition))
            told = self.check_rows(slice_, partitions_last(own, partition))
        self._audits.keep({slice_: told}, {slice_: metrics.version})
        sample = first_rows_of(rows, partition, SAMPLE_ROWS)
        return ComputedSlice(slice_, path, metrics, time.monotonic() - started, told, sample)

    def snapshots(self, slices: Sequence[Slice]) -> list[ComputedSlice]:
        """Judges and describes snapshots of one entity. Snapshots are tagged if their blocking rules hold.

        Nothing is written to the table. Raises SnapshotMissingError.
        """
        started = time.monotonic()
        path = self._warehouse.table_path(slices[0].entity)
        tagged = [judged_snapshot(self._warehouse, self._registry, slice_) for slice_ in slices]
        judged = dict(zip(slices, tagged, strict=True))
        self._inputs.judge(judged)
        audits: dict[Slice, Audit] = {}
        for some in self._judged_together(slices):
            told = self._audit(some, judged)
            self._settle(told, judged)
            audits.update(told)
        samples = self._samples(path, list(zip(slices, tagged, strict=True)))
        metrics = [self._metrics(path, slice_, snapshot) for slice_, snapshot in zip(slices, tagged, strict=True)]
        seconds = (time.monotonic() - started) / len(slices)
        return [
            ComputedSlice(
                slice_, path, measured, seconds, audits[slice_], samples.get(slice_), not audits[slice_].blocks
            )
            for slice_, measured in zip(slices, metrics, strict=True)
        ]

    def _settle(self, audits: Mapping[Slice, Audit], judged: Mapping[Slice, TaggedSnapshot]) -> None:
        """Publishes each slice whose rules hold. For the others it stores the reason, and readers keep the earlier tag.

        If the process dies between a verdict and its tag, the verdict is lost: the run is retried, and judges again.
        """
        crash_point("snapshot.judged")
        candidates = self._registry.candidates
        proposed = {candidate.snapshot.key for candidate in candidates.of(next(iter(judged)).entity)}
        for slice_, told in audits.items():
            if judged[slice_].key not in proposed:
                continue
            if told.blocks:
                verdict = CandidateVerdict.UNKNOWN if told.is_unknown else CandidateVerdict.REFUSED
                why = "; ".join(f"{name}: {reason}" for name, reason in told.broken.items())
                candidates.hold_back(judged[slice_], verdict, why)
            else:
                candidates.publish(judged[slice_], datetime.now(UTC))
                crash_point("snapshot.tagged")

    def _metrics(self, path: TableLocation, slice_: Slice, tagged: TaggedSnapshot) -> TableMetrics:
        """The version's metrics. Late changes of a restated snapshot are stored elsewhere:

        they only change the rows.
        """
        metrics = table_metrics(path, version=tagged.version)
        return replace(metrics, rows=self._inputs.snapshots([slice_]).count()) if tagged.is_restated else metrics

    def _samples(self, path: TableLocation, tagged: Sequence[tuple[Slice, TaggedSnapshot]]) -> dict[Slice, pa.Table]:
        """Samples of the last ones only: each version must be opened, and a run over weeks of hours has hundreds."""
        return {slice_: self._first_rows(path, slice_, snapshot) for slice_, snapshot in tagged[-SAMPLED_SNAPSHOTS:]}

    def _first_rows(self, path: TableLocation, slice_: Slice, tagged: TaggedSnapshot) -> pa.Table:
        if tagged.is_restated:
            return as_arrow(self._inputs.snapshots([slice_]).limit(SAMPLE_ROWS))
        return first_rows(path, SAMPLE_ROWS, version=tagged.version)

    def _judged_together(self, slices: Sequence[Slice]) -> list[Sequence[Slice]]:
        """Groups of a few full tables; single slices if each is judged by the changes since the one before."""
        at_once = 1 if self._is_narrowed(slices[0].entity) else _TABLES_A_JOB
        return [slices[start : start + at_once] for start in range(0, len(slices), at_once)]

    def _is_narrowed(self, entity: str) -> bool:
        is_partitioned = self._warehouse.captured_table_of(entity).partition_by is not None
        return is_partitioned and can_be_narrowed(self._warehouse.entities[entity])

    def _audit(self, slices: Sequence[Slice], judged: Mapping[Slice, TaggedSnapshot]) -> dict[Slice, Audit]:
        """The results of the rules for versions of captured tables, also stored in the state store."""
        entity, path = self._entity(slices[0]), self._warehouse.table_path(slices[0].entity)
        if not entity.quality and entity.profiled is None:
            return dict.fromkeys(slices, Audit((), None))
        by_partition = {tuple(self._partition(slice_).values()): slice_ for slice_ in slices}
        rows, is_narrowed = self._inputs.snapshots(slices), self._is_narrowed(entity.name)
        states = {slice_: self._state(path, slice_, judged[slice_]) if is_narrowed else "" for slice_ in slices}
        narrowed = self._changed(entity, judged[slices[0]], rows, states[slices[0]]) if is_narrowed else None
        read = sum(TableLog.of(path, judged[slice_].version).written_rows() for slice_ in slices)
        with self._clock(slices[0]), settings(self._session, worth_compiling(read)):
            audits = self._audits.audit(entity, rows, by_partition, narrowed)
            audits = quarantined(entity.quality, audits, rows, by_partition, self._around)
        published = {slice_: judged[slice_].version for slice_ in slices if not audits[slice_].blocks}
        looked_at = {
            slice_: JudgedVersion(judged[slice_].version, judged[slice_].late_batch, states[slice_])
            for slice_ in slices
        }
        self._audits.keep(audits, published, looked_at)
        return audits

    def _state(self, path: TableLocation, slice_: Slice, judged: TaggedSnapshot) -> str:
        return judged_state(path, judged.version, clock_of(self._warehouse.graph, slice_)[TIME_ZONE])

    def _changed(self, entity: Entity, judged: TaggedSnapshot, whole: DataFrame, state: str) -> ChangedRows | None:
        """The rows of a version to read; None for all of it, also with late changes."""
        if judged.is_restated:
            return None
        named = dict(zip(check_names(entity.quality), entity.quality, strict=True))
        path = self._warehouse.table_path(entity.name)
        return changed_rows(entity, path, (judged.version, state), whole, named, self._results)

    def _entity(self, slice_: Slice) -> Entity:
        return self._warehouse.entities[slice_.entity]

    def _partition(self, slice_: Slice) -> dict[str, PartitionValue]:
        return slice_values(self._entity(slice_), slice_)
