"""The table of all possible events of a slice, as data, and the function that reads it.

docs/transitions.md is written from this table. Sources: seed capabilities C1 (order of waiting), C9 (failed quality and
backfill), D2 and D5 (states, taint), D8 (data deleted from storage).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.status.propagation import BY_POLICY, Spread, To
from tidemark.dependency_model.status.slice_status import BACKFILLED, FOREIGN, PARTIAL, Quality, RunState, SliceStatus
from tidemark.errors import TransitionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.slice import Slice


class Event(Enum):
    """An event of a slice."""

    REQUESTED = "requested"
    RELEASED = "released"
    WITHDRAWN = "withdrawn"
    LAUNCHED = "launched"
    FORCED = "forced"
    STARTED = "started"
    REACHED = "reached"
    COMPLETED = "completed"
    BACKFILLED = "backfilled"
    OBSERVED = "observed"
    LACKING = "lacking"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    RETRIED = "retried"
    QUALITY_PASSED = "quality_passed"
    QUALITY_FAILED = "quality_failed"
    QUALITY_IGNORED = "quality_ignored"
    FLAGGED = "flagged"
    CLEARED = "cleared"
    TAINTED = "tainted"
    KEPT = "kept"
    BACKFILL_REQUESTED = "backfill_requested"
    RESTORED = "restored"
    DELETED = "deleted"
    OVERWRITTEN = "overwritten"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class TransitionRule:
    """One row: an event, the run states in which it may come, and its changes. None leaves a field unchanged.

    `adds_states_again` are states that it adds in every generation except the first.
    """

    event: Event
    run_states: frozenset[RunState]
    run_state: RunState | None
    meaning: str
    quality: Quality | None = None
    tainted: bool | None = None
    adds_states: frozenset[str] = frozenset()
    adds_states_again: frozenset[str] = frozenset()
    removes_states: frozenset[str] = frozenset()
    clears_states: bool = False
    adds_issue: bool = False
    removes_issue: bool = False
    brings_rows: bool = False
    announces: bool = False
    new_generation: bool = False
    restores: bool = False
    is_noted: bool = False
    """It is stored even if the status does not change."""
    spreads: tuple[Spread, ...] = ()


_ALL = frozenset(RunState)
_UNDER_WAY = frozenset({RunState.LAUNCHED, RunState.RUNNING})
_THERE = frozenset({RunState.COMPLETED})
_DONE = frozenset({COMPLETED})
_LACKS = frozenset({PARTIAL})
_FOREIGN = frozenset({FOREIGN})
_REACHED = _THERE | {RunState.WAITING}
"""Slices that have rows, also the rows of a state before the last one."""


def _row(
    event: Event, run_states: Iterable[RunState], run_state: RunState | None, meaning: str, **changes: object
) -> TransitionRule:
    return replace(TransitionRule(event, frozenset(run_states), run_state, meaning), **changes)  # type: ignore[arg-type]


_TAINTS = (Spread(To.DOWNSTREAM, "tainted"),)
_TAINTS_USERS = (Spread(To.USERS, "tainted"),)
_FLAGS = (Spread(To.INSIDE, "flagged"), Spread(To.AROUND, "flagged"), *_TAINTS_USERS)
_ASKS = (Spread(To.DOWNSTREAM, BY_POLICY),)
_ASKS_USERS = (Spread(To.USERS, BY_POLICY),)
_CLEARS = (Spread(To.INSIDE, "cleared"), Spread(To.AROUND, "cleared"), *_ASKS)

TRANSITIONS: tuple[TransitionRule, ...] = (
    _row(
        Event.REQUESTED,
        {RunState.WAITING},
        RunState.WAITING,
        "a person asks for a slice that was never computed; it waits for its inputs, however old it is",
        new_generation=True,
    ),
    _row(
        Event.RELEASED,
        {RunState.WAITING},
        RunState.READY,
        "its earliest time has come, and its inputs are complete",
    ),
    _row(
        Event.WITHDRAWN,
        {RunState.READY},
        RunState.WAITING,
        "before its launch, one of its inputs was found wrong or was requested again; it waits for that input",
    ),
    _row(Event.LAUNCHED, {RunState.READY}, RunState.LAUNCHED, "its run was requested, once for each generation"),
    _row(
        Event.FORCED,
        {RunState.WAITING, RunState.READY, RunState.FAILED},
        RunState.LAUNCHED,
        "a person launched a run, whatever it waits for",
    ),
    _row(Event.STARTED, {RunState.LAUNCHED}, RunState.RUNNING, "the run began"),
    _row(
        Event.REACHED,
        {RunState.RUNNING},
        RunState.WAITING,
        "the run reached an earlier state, such as estimated; the slice waits for the inputs of the next state",
        brings_rows=True,
        quality=Quality.UNKNOWN,
        removes_states=_LACKS | _FOREIGN,
    ),
    _row(
        Event.COMPLETED,
        {RunState.RUNNING},
        RunState.COMPLETED,
        "the first run finished; its rules are checked next (without rules it has passed)",
        brings_rows=True,
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE,
        removes_states=_LACKS | _FOREIGN,
    ),
    _row(
        Event.BACKFILLED,
        {RunState.RUNNING},
        RunState.COMPLETED,
        "a later run finished; profile and rules are checked again, and flags stay until they pass",
        brings_rows=True,
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE | {BACKFILLED},
        removes_states=_LACKS | _FOREIGN,
    ),
    _row(
        Event.OBSERVED,
        {RunState.WAITING, RunState.ABSENT},
        RunState.COMPLETED,
        "data of another system is there (a virtual slice, a project's root or end); in a later generation it replaces "
        "the earlier data, as a backfill does",
        brings_rows=True,
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE,
        adds_states_again=frozenset({BACKFILLED}),
    ),
    _row(
        Event.LACKING,
        _REACHED,
        None,
        "it was computed without some of its inputs; when they come, its policy decides whether it is computed again",
        adds_states=_LACKS,
    ),
    _row(
        Event.REFUSED,
        _UNDER_WAY,
        RunState.WAITING,
        "the run found inputs missing and computed nothing; it does not count as an attempt",
    ),
    _row(Event.FAILED, _UNDER_WAY, RunState.FAILED, "the run failed"),
    _row(
        Event.CANCELLED,
        _UNDER_WAY | {RunState.FAILED},
        RunState.FAILED,
        "a person cancelled the run, or its backfill; it is not retried until a person asks for it",
        is_noted=True,
    ),
    _row(
        Event.INTERRUPTED,
        _UNDER_WAY,
        RunState.READY,
        "its process was stopped, for example by a deployment; it is launched again, without using up an attempt",
    ),
    _row(
        Event.LOST,
        _UNDER_WAY,
        RunState.READY,
        "the run is lost (with its process or host), or was deleted; it may be launched again",
    ),
    _row(Event.RETRIED, {RunState.FAILED}, RunState.READY, "the retry policy, or a person, starts another attempt"),
    _row(
        Event.QUALITY_PASSED,
        _REACHED,
        None,
        "its rules passed, or it has none; the flag that it raised is removed everywhere",
        quality=Quality.PASSED,
        removes_issue=True,
        announces=True,
        spreads=_CLEARS,
    ),
    _row(
        Event.QUALITY_FAILED,
        _THERE | {RunState.FAILED},
        None,
        "one of its rules failed: this invalidates the slice, and the slices inside and around its window. If the run "
        "failed, its rows were not published, so nothing downstream is tainted",
        quality=Quality.FAILED,
        adds_issue=True,
        spreads=_FLAGS,
    ),
    _row(
        Event.QUALITY_IGNORED,
        _THERE,
        None,
        "a person accepted the slice",
        quality=Quality.IGNORED,
        removes_issue=True,
        announces=True,
        spreads=_CLEARS,
    ),
    _row(
        Event.FLAGGED,
        _ALL,
        None,
        "a slice of its series, inside or around its window, failed its rules",
        adds_issue=True,
        spreads=_TAINTS_USERS,
    ),
    _row(
        Event.CLEARED,
        _ALL,
        None,
        "the rules of that slice passed; flags of other slices stay",
        removes_issue=True,
        spreads=_ASKS_USERS,
    ),
    _row(
        Event.TAINTED,
        _THERE,
        None,
        "it was computed from an input that was found wrong",
        tainted=True,
        spreads=_TAINTS,
    ),
    _row(
        Event.KEPT,
        _THERE,
        None,
        "its inputs are valid again, and it need not be computed again",
        tainted=False,
        spreads=_ASKS,
    ),
    _row(
        Event.BACKFILL_REQUESTED,
        {RunState.COMPLETED, RunState.FAILED, RunState.ABSENT},
        RunState.WAITING,
        "it must be computed again: a new generation waits for its inputs like the first one",
        clears_states=True,
        new_generation=True,
    ),
    _row(
        Event.RESTORED,
        {RunState.WAITING, RunState.READY, RunState.FAILED},
        RunState.COMPLETED,
        "its backfill was cancelled before a run computed it: its earlier status (mostly completed) and generation "
        "are restored",
        restores=True,
    ),
    _row(
        Event.DELETED,
        {RunState.COMPLETED},
        RunState.ABSENT,
        "reconciliation found its data deleted from storage; slices that wait for it keep waiting",
        quality=Quality.UNKNOWN,
        clears_states=True,
    ),
    _row(
        Event.OVERWRITTEN,
        {RunState.COMPLETED},
        None,
        "reconciliation found that another program changed its data in storage, or rolled it back",
        quality=Quality.UNKNOWN,
        adds_states=_FOREIGN,
        spreads=_TAINTS,
    ),
    _row(
        Event.RECOVERED,
        {RunState.COMPLETED, RunState.ABSENT},
        RunState.COMPLETED,
        "reconciliation found the data of its run in storage again",
        adds_states=_DONE,
        removes_states=_FOREIGN,
        spreads=_ASKS,
    ),
)

_BY_EVENT = {row.event: row for row in TRANSITIONS}


def row_of(event: Event) -> TransitionRule:
    """The row of an event."""
    return _BY_EVENT[event]


def apply(
    status: SliceStatus,
    event: Event,
    *,
    cause: Slice | None = None,
    state: str | None = None,
    before: SliceStatus | None = None,
    changed: bool = True,
    asks: bool = False,
) -> SliceStatus:
    """The status after an event.

    `cause` is the slice whose quality failed or is good again (for quality events the slice itself). `state` is the
    state that a run reached, `before` the status to restore. `changed`: a run brought other rows. `asks`: the taint is
    a question of `reprocess: ask`. Raises TransitionError if the table does not allow the event in this run state.
    """
    row = _BY_EVENT[event]
    if status.run_state not in row.run_states:
        allowed = ", ".join(other.event.value for other in TRANSITIONS if status.run_state in other.run_states)
        raise TransitionError(
            f"a {status.run_state.value} slice cannot be {event.value}", expected=f"one of {allowed}", found=event.value
        )
    if cause is None and (row.adds_issue or row.removes_issue):
        raise TransitionError(f"{event.value} needs the slice that raised it", found="no cause")
    if row.restores:
        return _restored(status, before)
    after = _apply_row(status, row, frozenset() if cause is None else frozenset({cause}), state)
    if row.brings_rows and changed:
        return replace(after, unannounced=True)
    return replace(after, asked=True) if asks and after.tainted else after


def _restored(status: SliceStatus, before: SliceStatus | None) -> SliceStatus:
    """The status from before the request, with the present flags and taint."""
    if before is None or before.generation >= status.generation:
        raise TransitionError("the restored status is missing", expected="a status of an earlier generation")
    return replace(
        status,
        run_state=before.run_state,
        states=before.states,
        quality=before.quality,
        generation=before.generation,
        unannounced=before.unannounced,
        watermark=before.watermark,
    )


def _apply_row(status: SliceStatus, row: TransitionRule, cause: frozenset[Slice], state: str | None) -> SliceStatus:
    states = frozenset() if row.clears_states else status.states
    issues = status.issues
    tainted = status.tainted if row.tainted is None else row.tainted
    added = row.adds_states | (row.adds_states_again if status.generation > 1 else frozenset())
    return SliceStatus(
        run_state=row.run_state or status.run_state,
        states=(states - row.removes_states) | added | ({state} if state else frozenset()),
        quality=row.quality or status.quality,
        issues=(issues | cause) if row.adds_issue else (issues - cause) if row.removes_issue else issues,
        tainted=tainted,
        generation=status.generation + row.new_generation,
        unannounced=status.unannounced and not row.announces,
        asked=status.asked and tainted,
        watermark=None if row.clears_states else status.watermark,
    )
