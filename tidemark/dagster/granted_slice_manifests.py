"""The manifests of a step's slices, from their launch or from the judge. A step without them is skipped."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.detectors.told_event import FORCED_KEY, MISSING_KEY, READS_KEY, STATE_KEY
from tidemark.center.foreign_run_judge import RunJudge
from tidemark.compute.errors import InputMissingError, SliceBusyError
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.status import RunState
from tidemark.warm_runs.run_identity import launch_of, mark_refused, own_tag, run_of_launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.compute.runtime import Runtime
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice

FORCE_TAG: Final = "tidemark/force"
"""A run with this tag computes its slices without waiting. Its value is the reason. A copy of the tag has no effect."""
WHY_KEY: Final = "tidemark/why"
_SHOWN: Final = 20


@contextmanager
def skipped_if_not_ready(context: dg.AssetExecutionContext, entity: Entity) -> Iterator[None]:
    """End a step that `granted_manifests` refuses without results, and show the reason on the page of each partition.

    Its run succeeds, and steps that need its output are skipped: nothing is wrong with the asset or its checks.
    """
    try:
        yield
    except (InputMissingError, SliceBusyError) as refusal:
        context.log.warning("skipped: %s", refusal)
        keys = [None] if entity.is_static else list(context.partition_keys)[:_SHOWN]
        for key in keys:
            context.log_event(dg.AssetObservation(entity.name, partition=key, description=f"skipped: {refusal}"))


def granted_manifests(
    context: dg.AssetExecutionContext, runtime: Runtime, slices: Sequence[Slice]
) -> dict[Slice, SliceManifest]:
    """A manifest for each slice. Raises InputMissingError if a slice has to wait, before anything is written.

    Raises SliceBusyError if another run is computing one of them. Dagster clips ranges and does not know chosen
    offsets, so this check uses the exact inputs. A refused run gets a tag, so that it does not count as an attempt.
    """
    _require_no_other_run(context, runtime, slices)
    judge = RunJudge(runtime.warehouse.graph, runtime.state, context.instance)
    launch = launch_of(context.instance, context.run)
    manifests = judge.manifests(slices, launch, own_tag(context.run, FORCE_TAG))
    for manifest in manifests:
        if manifest.unmet:
            mark_refused(context.instance, context.run.run_id, manifest.slice.entity)
            missing = [slice_ for clause in manifest.unmet for slice_ in clause.missing]
            raise InputMissingError.of(manifest.slice, missing)
    return {manifest.slice: manifest for manifest in manifests}


def _require_no_other_run(context: dg.AssetExecutionContext, runtime: Runtime, slices: Sequence[Slice]) -> None:
    """Raise SliceBusyError if another active run has one of the slices: a slice has one writer."""
    own = {context.run.run_id, launch_of(context.instance, context.run)}
    for current in runtime.state.currents(slices):
        is_under_way = current.status.run_state in (RunState.LAUNCHED, RunState.RUNNING)
        if is_under_way and current.run_id not in own and _goes_on(context.instance, current.run_id):
            mark_refused(context.instance, context.run.run_id, current.slice.entity)
            raise SliceBusyError.of(current.slice, current.run_id or "")


def _goes_on(instance: dg.DagsterInstance, run_id: str | None) -> bool:
    """Whether the run with the center's id is active. Runs outside Dagster are unknown."""
    if run_id is None:
        return False
    run = run_of_launch(instance, run_id)
    return run is not None and not run.is_finished


def manifest_metadata(manifest: SliceManifest) -> Metadata:
    """The manifest's unusual facts, for a slice's page and for the center."""
    metadata: Metadata = {}
    if manifest.state != COMPLETED:
        metadata[STATE_KEY] = dg.TextMetadataValue(manifest.state)
    if manifest.missing:
        metadata[MISSING_KEY] = dg.TextMetadataValue(", ".join(map(str, manifest.missing)))
        reasons = [f"{clause.entity}: {clause.reason.value}" for clause in manifest.clauses if clause.missing]
        metadata[WHY_KEY] = dg.TextMetadataValue("; ".join(reasons))
    if manifest.forced:
        metadata[FORCED_KEY] = dg.TextMetadataValue(manifest.forced)
    if manifest.is_judged:
        metadata[READS_KEY] = dg.TextMetadataValue(manifest.to_json())
    return metadata
