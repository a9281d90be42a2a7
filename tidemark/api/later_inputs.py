"""Says which inputs of a complete slice were computed again after it read them, and why the slice was not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.backfill import SliceProgress
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.status import RunState
from tidemark.state_store.backfills import Backfills

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore

_SHOWN: Final = 5
_BY_POLICY: Final = {
    Reprocess.NEVER: "this table keeps its slices (reprocess: never)",
    Reprocess.IF_CHANGED: "this slice is computed again if the rows have changed (reprocess: if_changed)",
    Reprocess.ASK: "a person decides (reprocess: ask)",
    Reprocess.ALWAYS: "a person or an earlier policy kept this slice",
}
_BY_BACKFILL: Final = {
    SliceProgress.CANCELLED: "was cancelled before it came to this slice",
    SliceProgress.BLOCKED: "did not come to this slice, because a slice that it needs failed",
    SliceProgress.KEPT: "kept this slice",
    SliceProgress.FAILED: "failed to compute this slice",
}


def later_inputs(store: StateStore, slice_: Slice, policy: Reprocess) -> list[str]:
    """One sentence for each input; none for a slice that is up to date, not complete, or of unknown inputs."""
    current = store.read.current(slice_)
    if current is None or current.status.run_state is not RunState.COMPLETED:
        return []
    reads = dict(store.read.reads([slice_]).get(slice_) or ())
    newer = {
        used.slice: used.status.generation
        for used in store.read.currents(reads)
        if used.status.run_state is RunState.COMPLETED and used.status.generation > reads[used.slice]
    }
    told = [
        f"{used} has generation {generation} now, and this slice read generation {reads[used]}"
        f"{_because(store, slice_, used, policy)}"
        for used, generation in sorted(newer.items())[:_SHOWN]
    ]
    return [*told, *([f"and {len(newer) - _SHOWN:,} more inputs"] if len(newer) > _SHOWN else [])]


def _because(store: StateStore, slice_: Slice, used: Slice, policy: Reprocess) -> str:
    """The last backfill of both slices, or the policy."""
    last = Backfills(store.database).last_with(slice_, used)
    if last is not None and last[1] in _BY_BACKFILL:
        number, progress = last
        return f": backfill {number} {_BY_BACKFILL[progress]}"
    return f": {_BY_POLICY[policy]}"
