"""Groups slices with failed runs by cause: one for all failures with the same reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import Trouble
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.alerts.alert import Alert
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.failed_runs import FailedRun

    StatusOf = Callable[[Slice], SliceStatus]

_SHOWN: Final = 20
_LONGEST: Final = 200
_TRIED_AGAIN: Final = frozenset({RunState.READY, RunState.LAUNCHED, RunState.RUNNING})
_MOVING: Final = re.compile(r"\d+(?:[-:.T]\d+)*")
"""Days, counts and paths, which differ between slices with the same reason."""


def failed_run_troubles(
    failed: Mapping[Slice, FailedRun], alerts: Sequence[Alert], graph: DependencyGraph, status_of: StatusOf
) -> list[Trouble]:
    """All causes: `failed` slices are not retried automatically, `alerts` are the open alerts.

    A slice that a user runs again counts until the run succeeds.
    """
    by_cause: dict[str, list[Slice]] = {}
    for slice_, run in failed.items():
        by_cause.setdefault(_cause(run), []).append(slice_)
    for alert in alerts:
        known = [slice_ for text in alert.slices if (slice_ := Slice.parse(text)).entity in graph]
        tried = [slice_ for slice_ in known if status_of(slice_).run_state in _TRIED_AGAIN]
        if tried:
            by_cause.setdefault(alert.cause, []).extend(tried)
    return [_trouble(cause, slices, failed, graph) for cause, slices in by_cause.items()]


def _cause(run: FailedRun) -> str:
    return f"a run failed: {_MOVING.sub('#', run.why)[:_LONGEST]}"


def _trouble(cause: str, slices: Sequence[Slice], failed: Mapping[Slice, FailedRun], graph: DependencyGraph) -> Trouble:
    names = ", ".join(map(str, slices[:_SHOWN])) + (f" and {len(slices) - _SHOWN} more" if slices[_SHOWN:] else "")
    run = next((failed[slice_] for slice_ in slices if slice_ in failed), None)
    why = f"failed: {run.why} (run {run.run_id})" if run else "failed and is being run again"
    first = slices[0]
    message = (
        f"{names} {why}. It is not retried automatically. `tidemark explain {first.entity} {first.key}` shows "
        f"what it reads, `tidemark backfill {first.entity} {first.key} --approve` runs it again"
    )
    channels = dict.fromkeys(channel for slice_ in slices for channel in graph.entity(slice_.entity).notify)
    return Trouble(cause, message, tuple(map(str, slices)), tuple(channels))
