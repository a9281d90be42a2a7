"""The table of everything that may happen to a slice, as data, and the one function that reads it.

docs/transitions.md is written from this table. Sources: seed capabilities C1 (order of waiting), C9 (failed quality and
backfill), D2 and D5 (states, taint), D8 (data deleted from storage).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.errors import TransitionError
from tidemark.dependency_model.status.slice_status import BACKFILLED, Life, Quality, SliceStatus
from tidemark.dependency_model.status.spread import BY_POLICY, Spread, To

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.slice import Slice


class Event(Enum):
    """What happens to a slice."""

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
    FAILED = "failed"
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
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row: an event, in which lives it may come, and what it changes. None leaves a field as it is."""

    event: Event
    lives: frozenset[Life]
    life: Life | None
    meaning: str
    quality: Quality | None = None
    tainted: bool | None = None
    adds_states: frozenset[str] = frozenset()
    clears_states: bool = False
    adds_issue: bool = False
    removes_issue: bool = False
    new_generation: bool = False
    spreads: tuple[Spread, ...] = ()


_ALL = frozenset(Life)
_UNDER_WAY = frozenset({Life.LAUNCHED, Life.RUNNING})
_THERE = frozenset({Life.COMPLETED})
_DONE = frozenset({COMPLETED})


def _row(event: Event, lives: Iterable[Life], life: Life | None, meaning: str, **changes: object) -> Transition:
    return replace(Transition(event, frozenset(lives), life, meaning), **changes)  # type: ignore[arg-type]


_TAINTS = (Spread(To.USERS, "tainted"),)
_FLAGS = (Spread(To.PARTS, "flagged"), Spread(To.WHOLES, "flagged"), *_TAINTS)
_ASKS = (Spread(To.USERS, BY_POLICY),)
_CLEARS = (Spread(To.PARTS, "cleared"), Spread(To.WHOLES, "cleared"), *_ASKS)

TRANSITIONS: tuple[Transition, ...] = (
    _row(
        Event.REQUESTED,
        {Life.WAITING},
        Life.WAITING,
        "someone asks for a slice that nobody computed; it waits for its inputs, however old it is",
        new_generation=True,
    ),
    _row(Event.RELEASED, {Life.WAITING}, Life.READY, "its earliest time has come and each clause of its inputs is met"),
    _row(
        Event.WITHDRAWN,
        {Life.READY},
        Life.WAITING,
        "before it was launched, one of its inputs was found wrong or asked for again; it waits for it",
    ),
    _row(Event.LAUNCHED, {Life.READY}, Life.LAUNCHED, "a run was asked for, once for this generation"),
    _row(
        Event.FORCED,
        {Life.WAITING, Life.READY, Life.FAILED},
        Life.LAUNCHED,
        "someone launched a run by hand, whatever it waits for",
    ),
    _row(Event.STARTED, {Life.LAUNCHED}, Life.RUNNING, "the run began"),
    _row(
        Event.REACHED,
        {Life.RUNNING},
        Life.WAITING,
        "the run brought it to a state before the last one, such as estimated; it waits for what the next one needs",
    ),
    _row(
        Event.COMPLETED,
        {Life.RUNNING},
        Life.COMPLETED,
        "the run finished for the first time; its rules are checked next (without rules it has passed)",
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE,
    ),
    _row(
        Event.BACKFILLED,
        {Life.RUNNING},
        Life.COMPLETED,
        "a later run finished; profile and rules again - what is flagged stays so until they pass",
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE | {BACKFILLED},
    ),
    _row(
        Event.OBSERVED,
        {Life.WAITING, Life.ABSENT},
        Life.COMPLETED,
        "data that someone else makes is there (a virtual slice, a project's root or end)",
        quality=Quality.UNKNOWN,
        tainted=False,
        adds_states=_DONE,
    ),
    _row(Event.FAILED, _UNDER_WAY, Life.FAILED, "the run failed"),
    _row(Event.LOST, _UNDER_WAY, Life.READY, "the run is gone without a word; it may be launched again"),
    _row(Event.RETRIED, {Life.FAILED}, Life.READY, "the retry policy, or someone, lets it try again"),
    _row(
        Event.QUALITY_PASSED,
        _THERE,
        None,
        "its rules hold, or it has none; the flag it raised goes, here and wherever it went",
        quality=Quality.PASSED,
        removes_issue=True,
        spreads=_CLEARS,
    ),
    _row(
        Event.QUALITY_FAILED,
        _THERE,
        None,
        "one of its rules is broken: greyed here, in its parts and in the wholes it is part of",
        quality=Quality.FAILED,
        adds_issue=True,
        spreads=_FLAGS,
    ),
    _row(
        Event.QUALITY_IGNORED,
        _THERE,
        None,
        "someone decided that it will do as it is",
        quality=Quality.IGNORED,
        removes_issue=True,
        spreads=_CLEARS,
    ),
    _row(
        Event.FLAGGED,
        _ALL,
        None,
        "the failed quality of a part or of a whole reaches it",
        adds_issue=True,
        spreads=_TAINTS,
    ),
    _row(
        Event.CLEARED,
        _ALL,
        None,
        "that quality is good again; flags raised by others stay",
        removes_issue=True,
        spreads=_ASKS,
    ),
    _row(
        Event.TAINTED,
        _THERE,
        None,
        "it was computed from something that was found wrong",
        tainted=True,
        spreads=_TAINTS,
    ),
    _row(
        Event.KEPT,
        _THERE,
        None,
        "its inputs are good again and it need not be computed again",
        tainted=False,
        spreads=_ASKS,
    ),
    _row(
        Event.BACKFILL_REQUESTED,
        {Life.COMPLETED, Life.FAILED, Life.ABSENT},
        Life.WAITING,
        "it is to be computed again: a new generation, which waits for its inputs like the first",
        clears_states=True,
        new_generation=True,
    ),
    _row(
        Event.DELETED,
        {Life.COMPLETED},
        Life.ABSENT,
        "reconciliation found its data gone from storage; who still waits for it waits on",
        quality=Quality.UNKNOWN,
        clears_states=True,
    ),
)

_BY_EVENT = {row.event: row for row in TRANSITIONS}


def row_of(event: Event) -> Transition:
    """The row of an event."""
    return _BY_EVENT[event]


def apply(status: SliceStatus, event: Event, *, cause: Slice | None = None, state: str | None = None) -> SliceStatus:
    """The status after an event.

    `cause` is the slice whose quality failed or is good again (for quality events the slice itself); `state` the state
    that a run reached. Raises TransitionError where the table does not have the event in this life.
    """
    row = _BY_EVENT[event]
    if status.life not in row.lives:
        allowed = ", ".join(other.event.value for other in TRANSITIONS if status.life in other.lives)
        raise TransitionError(
            f"a {status.life.value} slice cannot be {event.value}", expected=f"one of {allowed}", found=event.value
        )
    if cause is None and (row.adds_issue or row.removes_issue):
        raise TransitionError(f"{event.value} needs the slice whose quality it is about", found="no cause")
    return _changed(status, row, frozenset() if cause is None else frozenset({cause}), state)


def _changed(status: SliceStatus, row: Transition, cause: frozenset[Slice], state: str | None) -> SliceStatus:
    states = frozenset() if row.clears_states else status.states
    issues = status.issues
    return SliceStatus(
        life=row.life or status.life,
        states=states | row.adds_states | ({state} if state else frozenset()),
        quality=row.quality or status.quality,
        issues=(issues | cause) if row.adds_issue else (issues - cause) if row.removes_issue else issues,
        tainted=status.tainted if row.tainted is None else row.tainted,
        generation=status.generation + row.new_generation,
    )
