"""A warehouse of the main job in which some slices of late March are there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.center import DependencyCenter
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.system.settings import Settings

THEN: Final = datetime(2026, 3, 30, 1, tzinfo=UTC)
COMPLETE: Final = (
    "ods_orders@2026-03-28",
    "ods_orders@2026-03-29",
    "ods_courses@2026-03-29",
    "dws_course_orders_1d@2026-03-29",
)
RUN: Final = "0fcd8a52"
DONE: Final = (Event.COMPLETED, Event.QUALITY_PASSED)


def report(
    settings: Settings,
    slices: Sequence[str] = COMPLETE,
    events: Sequence[Event] = DONE,
    why: str = "",
    at: datetime = THEN,
    run: str = RUN,
    **facts_of_rows: Any,
) -> None:
    """Tell a center of each slice's events, in their order."""
    store = StateStore.of(settings)
    graph = load_warehouse(settings).graph
    center = DependencyCenter(graph, store, since=datetime(2026, 3, 22, tzinfo=UTC), clock=lambda: at)
    for event in events:
        told = (
            Facts(run_id=run, **facts_of_rows) if event in (Event.STARTED, Event.FAILED, Event.COMPLETED) else Facts()
        )
        facts = [
            Fact(f"{name} {event.value} {at}", Slice.parse(name), event, at, "test", why, data=told) for name in slices
        ]
        center.report(facts, strict=True)
    store.close()
