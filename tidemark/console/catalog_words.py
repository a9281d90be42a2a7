"""Cells of `tidemark catalog ENTITY` about a slice: rules, profile and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.api.catalog_models import CatalogSliceModel, ProfileSummaryModel, SliceCompletenessModel


def state_in_words(slice_: CatalogSliceModel) -> str:
    """State and flaws: `completed, invalid`."""
    flaws = {"invalid": bool(slice_.issues), "tainted": slice_.tainted}
    return ", ".join([*(slice_.states or [slice_.run_state]), *(name for name, holds in flaws.items() if holds)])


def rules_in_words(slice_: CatalogSliceModel) -> str:
    """Results of the rules, and the slices that invalidate this one: `...; invalid because of ods@2026-03-24`.

    For a captured slice without a tag, the reason for that. For an entity without rules, the stored run of the slice.
    """
    others = [issue for issue in slice_.issues if issue != slice_.slice]
    because = [f"invalid because of {', '.join(others)}"] if others else []
    is_run = slice_.rules.split() == ["run", *([slice_.run_id] if slice_.run_id else [])]
    said = slice_.untagged or ("" if is_run else slice_.rules)
    return "; ".join([*([said] if said else []), *because])


def profile_in_words(profile: ProfileSummaryModel | None) -> str:
    """`as usual (12 columns, history: full)`, or the anomalies."""
    if profile is None:
        return ""
    unusual = [
        f"{anomaly.measure}: {anomaly.actual}, expected about {anomaly.expected}" for anomaly in profile.anomalies
    ]
    refused = [] if profile.is_published else [f"{profile.rows} rows, not published"]
    usual = "measured" if profile.history == "none" else "as usual"
    return "; ".join([*refused, *unusual]) or f"{usual} ({profile.columns} columns, history: {profile.history})"


def completeness_in_words(counted: SliceCompletenessModel | None) -> str:
    """`complete: 4000 records`, or `3990 of 4000 records, 1 of 12 slots open`."""
    if counted is None:
        return ""
    if counted.is_complete:
        return f"complete: {counted.lake} records"
    return f"{counted.lake} of {counted.source} records, {counted.open_slots} of {counted.slots} slots open"
