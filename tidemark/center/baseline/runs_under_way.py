"""Start times of active slices: a run of several slices computes one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice


@dataclass
class _SharedRun:
    """Incomplete slices of a run, and the time of its last completed one (seconds since 1970)."""

    left: set[Slice] = field(default_factory=set)
    ended: float = 0.0


class RunsUnderWay:
    """`since`: seconds since 1970 from which a slice has had the run for itself."""

    def __init__(self) -> None:
        self.since: dict[Slice, float] = {}
        self._run_of: dict[Slice, str] = {}
        self._runs: dict[str, _SharedRun] = {}

    def begin(self, slice_: Slice, run_id: str | None, at: float) -> None:
        """It was launched, or started."""
        if self._run_of.get(slice_, run_id) != run_id:
            self._leave(slice_)
        if run_id is not None:
            self._run_of[slice_] = run_id
            self._runs.setdefault(run_id, _SharedRun()).left.add(slice_)
        self.since[slice_] = max(at, self.ended_before(slice_))

    def ended_before(self, slice_: Slice) -> float:
        """The end of the slice before it in its run; 0 if there was none."""
        run = self._runs.get(self._run_of.get(slice_, ""))
        return run.ended if run is not None else 0.0

    def complete(self, slice_: Slice, at: float) -> None:
        """It is complete: its run continues with the next slice."""
        run = self._runs.get(self._run_of.get(slice_, ""))
        if run is not None:
            run.ended = max(run.ended, at)
            for other in run.left:
                self.since[other] = max(self.since[other], at)
        self.end(slice_)

    def end(self, slice_: Slice) -> None:
        """It is no longer computed."""
        self.since.pop(slice_, None)
        self._leave(slice_)

    def _leave(self, slice_: Slice) -> None:
        run_id = self._run_of.pop(slice_, None)
        if run_id is not None:
            self._runs[run_id].left.discard(slice_)
            if not self._runs[run_id].left:
                del self._runs[run_id]
