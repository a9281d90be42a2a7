"""Backfills that go on, and those that wait for a person, as `tidemark status` says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.console.output import print_line
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.dependency_model.backfill.progress import ACTIVE, OPEN
from tidemark.state_store.backfills import Backfills

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.store import StateStore

_SHOWN_PHASES = (*ACTIVE, BackfillPhase.PLANNED)


def open_backfills(store: StateStore | None) -> list[dict[str, Any]]:
    """The newest of those that are not at their end, for programs: how many slices are open, and how many ask."""
    if store is None:
        return []
    stored = Backfills(store.database)
    rows = stored.rows(_SHOWN_PHASES)
    counts = stored.counts([row.number for row in rows])
    return [
        {
            "number": row.number,
            "phase": row.phase.value,
            "asked": row.request.asked,
            "open": sum(counts[row.number].get(progress, 0) for progress in OPEN),
            "asking": counts[row.number].get(SliceProgress.ASKING, 0),
        }
        for row in rows
    ]


def print_open_backfills(backfills: Sequence[dict[str, Any]]) -> None:
    """A line each, and what a person has to do."""
    for backfill in backfills:
        number, asking = backfill["number"], backfill["asking"]
        print_line(f"backfill {number} is {backfill['phase']}: {backfill['asked']}, {backfill['open']:,} slices to go")
        if asking:
            words = f"{asking:,} of them wait for a person: tidemark backfills decide {number} --rebuild|--keep"
            print_line(f"  {words}", "yellow")
