"""Metadata for the center about slices whose rebuild did not change their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from tidemark.center.detectors.told_event import UNCHANGED_KEY
from tidemark.compute.business_time import slice_values
from tidemark.compute.content_comparison import content_matters, is_same_content

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice


def versions_before(runtime: Runtime, entity: Entity, slices: Sequence[Slice]) -> Mapping[Slice, str]:
    """The slices' table versions before the run, if a downstream entity depends on their content."""
    return runtime.state.versions(slices) if content_matters(runtime.warehouse.graph, entity.name) else {}


def unchanged_metadata(
    runtime: Runtime, computed: Sequence[ComputedSlice], before: Mapping[Slice, str]
) -> dict[Slice, Metadata]:
    """The metadata of slices with the same rows as in the version before; other slices have none."""
    same: dict[Slice, Metadata] = {}
    for result in computed:
        if result.slice not in before:
            continue
        entity = runtime.warehouse.entities[result.slice.entity]
        partition = slice_values(entity, result.slice)
        version = before[result.slice]
        if is_same_content(runtime.spark, result.path, partition, version, result.metrics.version):
            same[result.slice] = {UNCHANGED_KEY: dg.BoolMetadataValue(value=True)}
    return same
