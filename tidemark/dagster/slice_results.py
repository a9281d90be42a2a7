"""A run's results for Dagster: a check result for each rule and slice, and a materialization for each slice.

For a run over a range of partitions, Dagster has one `AssetCheckResult` and one `MaterializeResult`. So the checks of
each partition are reported by evaluations with its key, and its metadata is added to the step's context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg

from tidemark.center.detectors.rules_checked_by_run import UNKNOWN_KEY
from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.compute.errors import QualityError
from tidemark.dagster.metadata.slice import figures, files_aside, slice_metadata
from tidemark.dagster.promise_results import baseline_results
from tidemark.dagster.validity_results import validity_results
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tidemark.compute.anomaly_verdict import AnomalyVerdict
    from tidemark.compute.check_result import CheckResult
    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.quality_rules import Severity
    from tidemark.dependency_model.slice import Slice

StepResult = dg.Output[None] | dg.AssetCheckEvaluation | dg.MaterializeResult[Any]


def slice_results(
    context: dg.AssetExecutionContext,
    entity: Entity,
    runtime: Runtime,
    computed: Sequence[ComputedSlice],
    shown: Mapping[Slice, Metadata],
    common: Metadata | None = None,
) -> Iterator[StepResult]:
    """The results of rules come first, because an unpublished slice is not materialized. Raises QualityError.

    Validity comes last, for the new materializations. `shown` is the metadata of a slice's page besides its figures,
    `common` that of all pages.
    """
    by_key = {partition_of(entity, result.slice): result for result in computed}
    yield from _check_results(context.assets_def.check_specs, by_key)
    told = {
        key: {**slice_metadata(result), **shown.get(result.slice, {})}
        for key, result in by_key.items()
        if not result.audit.blocks
    }
    refused = [result for result in by_key.values() if result.audit.blocks]
    if refused:
        # The step fails, and Dagster drops a failed step's results, so each published slice is reported separately.
        for key, metadata in told.items():
            context.log_event(dg.AssetMaterialization(entity.name, partition=key, metadata=metadata))
        yield from validity_results(context, entity, runtime.state, computed)
        raise QualityError.of(refused[0].slice, refused[0].audit.broken, [result.slice for result in refused[1:]])
    for key, metadata in told.items():
        context.add_asset_metadata(metadata, partition_key=key)
    yield from baseline_results(context, entity, runtime.warehouse.graph, [result.slice for result in computed])
    yield dg.MaterializeResult(metadata=common or {})
    yield from validity_results(context, entity, runtime.state, computed)


def _check_results(
    specs: Iterable[dg.AssetCheckSpec], by_key: Mapping[str | None, ComputedSlice]
) -> Iterator[StepResult]:
    """Each rule's result on each slice."""
    by_name = {spec.name: spec for spec in specs}
    for check in next(iter(by_key.values())).audit.checks:
        yield dg.Output(None, output_name=by_name[check.name].get_python_identifier())
    if CHECK_NAME in by_name:
        yield dg.Output(None, output_name=by_name[CHECK_NAME].get_python_identifier())
    for key, result in by_key.items():
        aside = files_aside(result)
        for check in result.audit.checks:
            yield _evaluation(by_name[check.name], check, key, {} if check.passed else aside)
        if result.audit.anomaly:
            yield anomaly_evaluation(by_name[CHECK_NAME].asset_key, result.audit.anomaly, key, aside)


def anomaly_evaluation(
    asset: dg.AssetKey, verdict: AnomalyVerdict, key: str | None, aside: Metadata
) -> dg.AssetCheckEvaluation:
    """The result of the anomaly check: a warning, or an error if the slice is held back."""
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name=CHECK_NAME,
        passed=verdict.passed,
        metadata={**figures(verdict.figures), **(aside if verdict.broken else {})},
        description=verdict.reason,
        severity=dg.AssetCheckSeverity.ERROR if verdict.broken else dg.AssetCheckSeverity.WARN,
        blocking=True,
        partition=key,
    )


def _evaluation(
    spec: dg.AssetCheckSpec, check: CheckResult, key: str | None, aside: Metadata
) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=spec.asset_key,
        check_name=spec.name,
        passed=check.passed,
        severity=check_severity(check.severity),
        metadata={**figures(check.figures), **aside, **({UNKNOWN_KEY: True} if check.is_unknown else {})},
        description=check.reason,
        blocking=check.severity == "block",
        partition=key,
    )


def check_severity(severity: Severity) -> dg.AssetCheckSeverity:
    """A rule's severity in Dagster's words."""
    return dg.AssetCheckSeverity.WARN if severity == "warn" else dg.AssetCheckSeverity.ERROR
