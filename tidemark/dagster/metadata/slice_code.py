"""The code of computed slices: its id on each, and its content on one of them if it is not stored yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from tidemark.center.detectors.told_event import CODE_CONTENT_KEY, CODE_KEY
from tidemark.warehouse.code_version import entity_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.compute.runtime import Runtime
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice


def code_metadata(runtime: Runtime, entity: Entity, slices: Sequence[Slice]) -> dict[Slice, Metadata]:
    """The code's metadata for the center. Raises StateStoreDownError."""
    code = entity_code(runtime.warehouse, entity, runtime.warehouse.columns.outside)
    told: dict[Slice, Metadata] = {slice_: {CODE_KEY: dg.TextMetadataValue(code.id)} for slice_ in slices}
    if not runtime.codes.is_known(code.id, entity.name):
        told[slices[0]][CODE_CONTENT_KEY] = dg.TextMetadataValue(code.to_json())
    return told
