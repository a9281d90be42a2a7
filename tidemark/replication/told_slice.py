"""Facts that travel with a slice: its quality, origin and inputs, and faults that are found later (C6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.status import Event
from tidemark.dependency_model.status.flaws import flaws
from tidemark.state_store.witnessed_arrivals import ORIGIN

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Current

_ARRIVALS: Final = frozenset({Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED, Event.RECOVERED})
_FAULTS: Final = frozenset({Event.TAINTED, Event.QUALITY_FAILED, Event.FLAGGED, Event.OVERWRITTEN})
_MOST_INPUTS: Final = 200


def told_slice(store: StateStore, slice_: Slice) -> dict[str, Any]:
    """The quality of a slice, when and by which run and code it was completed, and its first inputs. As JSON.

    `origin` has the same facts of the center that computed it, if it came from there as a replica.
    """
    history = store.read.history(slice_)
    arrival = next((step for step in reversed(history) if step.event in _ARRIVALS), None)
    if arrival is None:
        return {}
    code = next((step.facts.code for step in reversed(history) if step.facts.code), "")
    inputs = store.read.reads([slice_]).get(slice_) or []
    return {
        "quality": history[-1].status.quality.value,
        "completed_at": arrival.event_time.isoformat(),
        "run": arrival.run_in_dagster or arrival.facts.run_id or "",
        "code": code,
        "read": [{"slice": str(read), "generation": generation} for read, generation in inputs[:_MOST_INPUTS]],
        "inputs": len(inputs),
        **({"origin": arrival.facts.parameters[ORIGIN]} if ORIGIN in arrival.facts.parameters else {}),
    }


def fault_of(store: StateStore, current: Current) -> str:
    """Why a completed slice is wrong, with the reason that was given last; empty for a slice without a fault."""
    if not current.status.is_flawed:
        return ""
    faults = [step for step in store.read.history(current.slice) if step.event in _FAULTS]
    why = f" ({faults[-1].who}: {faults[-1].why})" if faults and faults[-1].why else ""
    return "; ".join(flaws(current.slice, current.status)) + why
