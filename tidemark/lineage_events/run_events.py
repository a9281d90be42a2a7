"""Transitions of slices as OpenLineage run events: each attempt at a slice is a run of its entity's job.

Everything in an event follows from stored facts, including its time and its run's id, so a repeated event is identical.
Dagster's run, which may compute several slices, is its parent.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from math import isfinite
from typing import TYPE_CHECKING, Final, cast

from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.generated.data_quality_assertions_dataset import Assertion, DataQualityAssertionsDatasetFacet
from openlineage.client.generated.data_quality_metrics_dataset import ColumnMetrics, DataQualityMetricsDatasetFacet
from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
from openlineage.client.generated.job_type_job import JobTypeJobFacet
from openlineage.client.generated.nominal_time_run import NominalTimeRunFacet
from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet
from openlineage.client.generated.parent_run import Job as ParentJob
from openlineage.client.generated.parent_run import ParentRunFacet
from openlineage.client.generated.parent_run import Run as ParentRun
from openlineage.client.generated.sql_job import SQLJobFacet
from openlineage.client.uuid import generate_static_uuid

from tidemark.dependency_model.entity.quality_rules import check_names
from tidemark.dependency_model.profile.figures import RANKS
from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.generated.base import DatasetFacet, JobFacet, RunFacet

    from tidemark.dependency_model.entity.quality_rules import QualityRule
    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.lineage_events.datasets import Datasets
    from tidemark.state_store.transition import Transition
    from tidemark.warehouse.warehouse import Warehouse

PRODUCER: Final = f"urn:tidemark:{version('tidemark')}"
NAMESPACE: Final = "tidemark"
_DAGSTER_RUN: Final = re.compile(r"run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
"""The run's id in texts from Dagster's event log."""
_BEGIN: Final = frozenset({Event.LAUNCHED, Event.STARTED})
_END: Final = {
    Event.COMPLETED: RunState.COMPLETE,
    Event.BACKFILLED: RunState.COMPLETE,
    Event.REACHED: RunState.COMPLETE,
    Event.FAILED: RunState.FAIL,
    Event.CANCELLED: RunState.ABORT,
    Event.INTERRUPTED: RunState.ABORT,
    Event.LOST: RunState.ABORT,
}
TOLD: Final = _BEGIN | _END.keys()
"""The transitions that may give a run event."""


class RunEvents:
    """The run events of one warehouse; `namespace` is the namespace of its jobs."""

    def __init__(self, warehouse: Warehouse, datasets: Datasets, namespace: str = NAMESPACE) -> None:
        self._warehouse, self._datasets, self._namespace = warehouse, datasets, namespace

    def is_told(self, transition: Transition) -> bool:
        """Whether the transition belongs to a run: of a computed entity, not a captured or external one."""
        entity = self._warehouse.entities.get(transition.slice.entity)
        if entity is None or transition.event not in TOLD or entity.is_project:
            return False
        name = entity.name
        return not self._warehouse.is_external(name) and not self._warehouse.is_snapshot(name)

    def of(
        self, transition: Transition, history: Sequence[Transition], figures: SliceFigures | None = None
    ) -> RunEvent | None:
        """The event of a transition; `history` is that of its slice. None for a second start of the same run."""
        begun = _begun(history, transition.seq)
        if transition.event in _BEGIN:
            return None if begun else self._event(transition, transition, RunState.START)
        judged = next((step for step in history if step.event_id == f"{transition.event_id}:quality"), None)
        return self._event(transition, begun or transition, _END[transition.event], figures, judged)

    def _event(
        self,
        at: Transition,
        begun: Transition,
        state: RunState,
        figures: SliceFigures | None = None,
        judged: Transition | None = None,
    ) -> RunEvent:
        run_id = str(generate_static_uuid(begun.event_time, begun.event_id.encode()))
        return RunEvent(
            eventTime=at.event_time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            eventType=state,
            run=Run(run_id, self._run_facets(at, begun, state)),
            job=Job(self._namespace, at.slice.entity, self._job_facets(at.slice.entity)),
            inputs=self._inputs(begun.facts.manifest),
            outputs=[self._output(at, state, figures, judged)],
            producer=PRODUCER,
        )

    def _run_facets(self, at: Transition, begun: Transition, state: RunState) -> dict[str, RunFacet]:
        facets: dict[str, RunFacet] = {}
        if self._warehouse.entities[at.slice.entity].period is not None:
            window = self._warehouse.graph.window(at.slice)
            facets["nominalTime"] = NominalTimeRunFacet(window.start.isoformat(), window.end.isoformat())
        run = _DAGSTER_RUN.search(at.why) or _DAGSTER_RUN.search(begun.why)
        if run:
            facets["parent"] = ParentRunFacet(ParentRun(run[1]), ParentJob(self._namespace, "dagster"))
        if state in (RunState.FAIL, RunState.ABORT) and at.why:
            facets["errorMessage"] = ErrorMessageRunFacet(at.why, "PYTHON")
        return facets

    def _job_facets(self, entity: str) -> dict[str, JobFacet]:
        facets: dict[str, JobFacet] = {"jobType": JobTypeJobFacet("BATCH", "TIDEMARK", "SLICE")}
        if entity in self._warehouse.queries:
            facets["sql"] = SQLJobFacet(self._warehouse.queries[entity], "spark")
        return facets

    def _inputs(self, manifest: SliceManifest | None) -> list[InputDataset]:
        used = manifest.used_slices if manifest else {}
        return [
            self._datasets.input(name, [_key(part.slice) for part in parts], [part.version for part in parts])
            for name, parts in used.items()
            if name in self._warehouse.entities and not self._warehouse.entities[name].is_project
        ]

    def _output(
        self, at: Transition, state: RunState, figures: SliceFigures | None, judged: Transition | None
    ) -> OutputDataset:
        is_there = state is RunState.COMPLETE
        output = self._datasets.output(at.slice.entity, _key(at.slice), at.facts.snapshot_id if is_there else None)
        facets = output.facets or {}
        assertions = self._assertions(at.slice.entity, judged or at, is_judged=judged is not None)
        if assertions:
            # The specification has this facet for inputs; here it is about the written rows.
            facets["dataQualityAssertions"] = cast("DatasetFacet", DataQualityAssertionsDatasetFacet(assertions))
        if is_there and figures is not None:
            facets["dataQualityMetrics"] = _metrics(figures)
        if is_there and at.facts.row_count is not None:
            output.outputFacets = {"outputStatistics": OutputStatisticsOutputDatasetFacet(at.facts.row_count)}
        output.facets = facets
        return output

    def _assertions(self, entity: str, told: Transition, *, is_judged: bool) -> list[Assertion]:
        """Each rule's result. For a refused slice, only the rules that are recorded as broken."""
        rules = self._warehouse.entities[entity].quality
        return [
            Assertion(
                rule.NAME,
                success=not is_broken,
                severity="error" if rule.severity == "block" else "warn",
                name=name,
                column=_column_of(rule),
            )
            for name, rule in zip(check_names(rules), rules, strict=True)
            for is_broken in [bool(re.search(rf"(?:: |; ){re.escape(name)}: ", told.why))]
            if is_judged or is_broken
        ]


def _begun(history: Sequence[Transition], seq: int) -> Transition | None:
    """The first start of the run of transition `seq`; None if there is none before it."""
    first = None
    for transition in history:
        if transition.seq >= seq:
            break
        if transition.event in _END:
            first = None
        elif transition.event in _BEGIN and first is None:
            first = transition
    return first


def _column_of(rule: QualityRule) -> str | None:
    """The only column of a rule, or None."""
    columns: tuple[str, ...] = getattr(rule, "columns", ())
    return columns[0] if len(columns) == 1 else getattr(rule, "column", None)


def _key(slice_: Slice) -> str:
    return str(slice_).partition("@")[2]


def _metrics(figures: SliceFigures) -> DataQualityMetricsDatasetFacet:
    """The metrics of the slice's profile."""
    columns = {
        name: ColumnMetrics(
            nullCount=figures.rows - column.values,
            distinctCount=None if column.distinct is None else round(column.distinct),
            count=float(column.values),
            # JSON has no infinite numbers, and the specification requires numbers.
            quantiles={str(at): value for at, value in zip(RANKS, column.quantiles, strict=False) if isfinite(value)},
        )
        for name, column in figures.columns.items()
    }
    return DataQualityMetricsDatasetFacet(columns, figures.rows)
