"""What a step's slices may open: the manifests of their launch, or those of the judge. Without them it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.detectors.event_log import FORCED_KEY, MISSING_KEY, REFUSED_TAG, STATE_KEY
from tidemark.center.foreign_run_judge import RunJudge
from tidemark.compute.errors import InputMissingError
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.warm_runs.launcher import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.compute.runtime import Runtime
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice

FORCE_TAG: Final = "tidemark/force"
"""A run with this tag computes its slices whatever they wait for; its value says why."""
WHY_KEY: Final = "tidemark/why"


def granted_manifests(
    context: dg.AssetExecutionContext, runtime: Runtime, slices: Sequence[Slice]
) -> dict[Slice, SliceManifest]:
    """A manifest a slice. Raises InputMissingError where a slice has to wait: nothing has been written then.

    Dagster clips ranges and knows no chosen offsets, so the exact set is asked for here. A refused run says so by a
    tag, so that it uses up no attempt.
    """
    judge = RunJudge(runtime.warehouse.graph, runtime.state, context.instance)
    tags = context.run.tags
    manifests = judge.manifests(slices, tags.get(RUN_TAG, ""), tags.get(FORCE_TAG, ""))
    for manifest in manifests:
        if manifest.unmet:
            _mark_refused(context, manifest.slice.entity)
            missing = [slice_ for clause in manifest.unmet for slice_ in clause.missing]
            raise InputMissingError.of(manifest.slice, missing)
    return {manifest.slice: manifest for manifest in manifests}


def manifest_metadata(manifest: SliceManifest) -> Metadata:
    """What a slice's page, and the center, are told of its manifest: only what is out of the ordinary."""
    metadata: Metadata = {}
    if manifest.state != COMPLETED:
        metadata[STATE_KEY] = dg.TextMetadataValue(manifest.state)
    if manifest.missing:
        metadata[MISSING_KEY] = dg.TextMetadataValue(", ".join(map(str, manifest.missing)))
        reasons = [f"{clause.entity}: {clause.reason.value}" for clause in manifest.clauses if clause.missing]
        metadata[WHY_KEY] = dg.TextMetadataValue("; ".join(reasons))
    if manifest.forced:
        metadata[FORCED_KEY] = dg.TextMetadataValue(manifest.forced)
    return metadata


def _mark_refused(context: dg.AssetExecutionContext, entity: str) -> None:
    before = context.instance.get_run_by_id(context.run.run_id)
    names = [name for name in (before.tags.get(REFUSED_TAG, "") if before else "").split(",") if name]
    context.instance.add_run_tags(context.run.run_id, {REFUSED_TAG: ",".join([*names, entity])})
