"""A custom facet: the slices of a dataset that a run reads or writes."""

from __future__ import annotations

import attr
from openlineage.client.generated.base import DatasetFacet


@attr.define
class SlicesOfDataset(DatasetFacet):
    """The keys of an entity's slices: `2026-03-29`, `2026-03-29T03/region=cn`."""

    entity: str
    slices: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:tidemark:facets:1-0-0:SlicesOfDataset"
