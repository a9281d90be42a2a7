"""The reasons, in words, why readers do not accept a completed slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status.slice_status import FOREIGN, Quality, RunState

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus

VALIDITY_CHECK: Final = "valid"
"""The name of the check by which Dagster shows whether a slice is valid."""
VALID: Final = "no fault is known"
_SHOWN: Final = 3


def flaws(slice_: Slice, status: SliceStatus) -> list[str]:
    """One sentence for each reason; none for a slice that is valid, or that has no data."""
    is_unchecked = status.run_state is RunState.COMPLETED and status.quality is Quality.UNKNOWN
    told = {
        "its rules are broken": slice_ in status.issues,
        f"the rules of {_listed(status.issues - {slice_})} are broken": bool(status.issues - {slice_}),
        "it was computed from an input that was found wrong": status.tainted,
        "another program has changed its data in storage": FOREIGN in status.states,
        "its rules have not been checked": is_unchecked,
    }
    return [words for words, holds in told.items() if holds]


def _listed(slices: frozenset[Slice]) -> str:
    names = sorted(map(str, slices))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
