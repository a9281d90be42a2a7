"""The impact of slices in the JSON of the HTTP interface and of `tidemark impact --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.api.response_models import ImpactedModel, ImpactModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tidemark.dependency_model.impact import ImpactedSlice
    from tidemark.dependency_model.slice import Slice


def impact_model(causes: Sequence[Slice], until: datetime, impacts: Sequence[ImpactedSlice]) -> ImpactModel:
    """The answer for slices, with everything downstream that begins by `until` (aware)."""
    return ImpactModel(
        causes=[str(slice_) for slice_ in causes], until=until, downstream=[_impacted(impact) for impact in impacts]
    )


def _impacted(impact: ImpactedSlice) -> ImpactedModel:
    status = impact.status
    return ImpactedModel(
        slice=str(impact.slice),
        need=impact.need.value,
        because=impact.because,
        run_state=status.run_state.value,
        valid=status.valid,
        tainted=status.tainted,
    )
