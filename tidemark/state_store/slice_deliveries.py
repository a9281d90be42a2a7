"""Deliveries of slices to refresh targets, done and open: one for each slice and target.

The process that refreshes a target holds its lease.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.refresh.delivery import RefreshAction, SliceDelivery, SliceStanding
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence


class SliceDeliveries:
    """Deliveries of one entity to one target. All raise StateStoreDownError, writes with fences also FencedError."""

    def __init__(self, database: Database, target: str, entity: str) -> None:
        self._notes = Notes(database, f"refresh {target} {entity}")

    def all(self) -> dict[Slice, SliceDelivery]:
        """All deliveries by slice."""
        deliveries = map(_delivery, self._notes.all().values())
        return {delivery.slice: delivery for delivery in deliveries}

    def of(self, slice_: Slice) -> SliceDelivery | None:
        """The delivery of a slice; None if none was ever planned."""
        content = self._notes.get(str(slice_))
        return None if content is None else _delivery(content)

    def put(self, deliveries: Iterable[SliceDelivery], fences: Iterable[Fence] = ()) -> None:
        """Replace the deliveries of these slices."""
        self._notes.put({str(delivery.slice): json_text(_stored(delivery)) for delivery in deliveries}, fences)


def delivery_data(delivery: SliceDelivery) -> dict[str, Any]:
    """A delivery as JSON."""
    taken, taken_at = delivery.taken, delivery.taken_at
    return {
        "slice": str(delivery.slice),
        "state": delivery.state.value,
        **_standing_data(delivery.standing),
        "due_at": delivery.due_at.isoformat(),
        "attempts": delivery.attempts,
        "reason": delivery.reason,
        "taken": {**_standing_data(taken), "at": taken_at.isoformat()} if taken and taken_at else None,
    }


def _standing_data(standing: SliceStanding) -> dict[str, Any]:
    return {
        "action": standing.action.value,
        "generation": standing.generation,
        "version": standing.version,
        "seq": standing.seq,
    }


def _stored(delivery: SliceDelivery) -> dict[str, Any]:
    return {name: value for name, value in delivery_data(delivery).items() if name != "state"}


def _delivery(content: str) -> SliceDelivery:
    told = json.loads(content)
    taken = told["taken"]
    return SliceDelivery(
        Slice.parse(told["slice"]),
        _standing(told),
        datetime.fromisoformat(told["due_at"]),
        told["attempts"],
        told["reason"],
        _standing(taken) if taken else None,
        datetime.fromisoformat(taken["at"]) if taken else None,
    )


def _standing(told: dict[str, Any]) -> SliceStanding:
    return SliceStanding(RefreshAction(told["action"]), told["generation"], told["version"], told["seq"])
