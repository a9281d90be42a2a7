"""Converts between values and rows.

Equal statuses share one object, because most of many slices are simply completed.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.entity.dependency import ASKED, UNANNOUNCED, WATERMARK_PREFIX
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.errors import TidemarkError
from tidemark.state_store.transition import (
    NOTHING_TOLD,
    Current,
    Facts,
    Transition,
    instant_of,
    microseconds,
)
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.entity.sub_partition import Sub

STATUS = ("life", "states", "quality", "issues", "tainted", "generation")
TRANSITION = (
    *("seq", "event_id", "entity", "key", "sub", "event", "who", "why", "event_time", "record_time"),
    *STATUS,
    *("run_id", "cluster", "row_count", "minimum", "maximum", "snapshot_id", "batch_id", "details"),
)
CURRENT = ("entity", "key", "sub", *STATUS, "seq", "run_id", "cluster")

_UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError, TidemarkError)
"""Errors from stored values that no version of this program has written."""
_EVENTS = {event.value: event for event in Event}


@lru_cache(maxsize=65_536)
def status_values(status: SliceStatus) -> tuple[str, str, str, str, bool, int]:
    """The columns of a status, in the order of `STATUS`."""
    return (
        status.run_state.value,
        _states_text(status),
        status.quality.value,
        "\n".join(sorted(map(str, status.issues))),
        status.tainted,
        status.generation,
    )


@lru_cache(maxsize=65_536)
def status_of(run_state: str, states: str, quality: str, issues: str, tainted: int, generation: int) -> SliceStatus:
    """The status of its columns."""
    reached = frozenset(states.split(",")) if states else frozenset[str]()
    watermarks = frozenset(name for name in reached if name.startswith(WATERMARK_PREFIX))
    return SliceStatus(
        RunState(run_state),
        reached - {UNANNOUNCED, ASKED} - watermarks,
        Quality(quality),
        frozenset(map(Slice.parse, issues.split("\n"))) if issues else frozenset(),
        bool(tainted),
        generation,
        UNANNOUNCED in reached,
        ASKED in reached,
        max((int(name.removeprefix(WATERMARK_PREFIX)) for name in watermarks), default=None),
    )


def _states_text(status: SliceStatus) -> str:
    kept = {UNANNOUNCED: status.unannounced, ASKED: status.asked}
    if status.watermark is not None:
        kept[f"{WATERMARK_PREFIX}{status.watermark}"] = True
    return ",".join(sorted({*status.states, *(name for name, holds in kept.items() if holds)}))


@lru_cache(maxsize=65_536)
def sub_text(sub: Sub) -> str:
    """A sub-partition as text; empty for a whole slice."""
    return str(Slice("", "", sub)).partition("/")[2] if sub else ""


@lru_cache(maxsize=65_536)
def sub_of(text: str) -> Sub:
    """A sub-partition from its text."""
    return Slice.parse(f"x@0/{text}").sub if text else ()


def transition_row(transition: Transition) -> tuple[Any, ...]:
    """Columns of a transition, in the order of `TRANSITION`."""
    slice_, facts = transition.slice, transition.facts
    told = (
        (None,) * 8
        if facts is NOTHING_TOLD
        else (
            *(facts.run_id, facts.cluster, facts.row_count, facts.minimum, facts.maximum),
            *(facts.snapshot_id, facts.batch_id, _details(facts)),
        )
    )
    times = (microseconds(transition.event_time), microseconds(transition.record_time))
    head = (
        transition.seq,
        transition.event_id,
        slice_.entity,
        slice_.key,
        sub_text(slice_.sub),
        transition.event.value,
        transition.who,
        transition.why,
    )
    return (*head, *times, *status_values(transition.status), *told)


def transition_of(row: Sequence[Any]) -> Transition:
    """A transition from its columns."""
    seq, event_id, entity, key, sub, event, who, why, event_time, record_time = row[:10]
    status, unreadable_status = readable_status(row[10:16])
    facts, unreadable_facts = _facts(row[16:])
    return Transition(
        seq=seq,
        event_id=event_id,
        slice=Slice(entity, key, sub_of(sub)),
        event=_EVENTS[event],
        status=status,
        who=who,
        why=why,
        event_time=instant_of(event_time),
        record_time=instant_of(record_time),
        facts=facts,
        unreadable=unreadable_status or unreadable_facts,
    )


def current_row(transition: Transition, run: tuple[str | None, str | None]) -> tuple[Any, ...]:
    """The projection of a slice's last transition, in the order of `CURRENT`."""
    slice_ = transition.slice
    return (slice_.entity, slice_.key, sub_text(slice_.sub), *status_values(transition.status), transition.seq, *run)


def waiting_row(slice_: Slice) -> tuple[Any, ...]:
    """The projection of a waiting slice without any event."""
    return (slice_.entity, slice_.key, sub_text(slice_.sub), *status_values(SliceStatus()), 0, None, None)


def current_of(row: Sequence[Any]) -> Current:
    """The projection of its columns."""
    status, unreadable = readable_status(row[3:9])
    return Current(Slice(row[0], row[1], sub_of(row[2])), status, row[9], row[10], row[11], unreadable)


def readable_status(row: Sequence[Any]) -> tuple[SliceStatus, str]:
    """The status from its columns; if they cannot be read, a failed status with the reason.

    This affects only one slice.
    """
    try:
        return status_of(*row), ""
    except _UNREADABLE as error:
        generation = row[5] if isinstance(row[5], int) else 1
        return SliceStatus(RunState.FAILED, generation=generation), _why_unreadable("status", error)


def _details(facts: Facts) -> str | None:
    fields = {
        name: value
        for name, value in (
            ("parameters", dict(facts.parameters)),
            ("watermarks", dict(facts.watermarks)),
            ("manifest", facts.manifest and facts.manifest.to_json()),
            ("code", facts.code),
        )
        if value
    }
    return json_text(fields, separators=(",", ":"), sort_keys=True) if fields else None


def _facts(row: Sequence[Any]) -> tuple[Facts, str]:
    """Reported facts, and why a part of them cannot be read."""
    if not any(value is not None for value in row):
        return NOTHING_TOLD, ""
    *columns, details = row
    if not details:
        return Facts(*columns), ""
    try:
        return Facts(*columns, **_details_of(details)), ""
    except _UNREADABLE as error:
        return Facts(*columns), _why_unreadable("details", error)


def _details_of(text: str) -> dict[str, Any]:
    details = json.loads(text)
    manifest = details.get("manifest")
    return {
        "parameters": details.get("parameters", {}),
        "watermarks": details.get("watermarks", {}),
        "manifest": SliceManifest.of_json(manifest) if manifest else None,
        "code": str(details.get("code", "")),
    }


def _why_unreadable(what: str, error: Exception) -> str:
    return f"its stored {what} cannot be read ({type(error).__name__}: {str(error)[:200]})"
