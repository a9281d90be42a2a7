"""Counts of records, slot by slot, in both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.state_store.record_counts import RecordCount, RecordCounts

if TYPE_CHECKING:
    from tidemark.state_store.database import Database


def test_counts_of_all_parts_are_summed_by_slot(database: Database) -> None:
    counts = RecordCounts(database)
    told = [("source", "a", 100, 4), ("source", "b", 108, 3), ("lake", "c", 109, 5), ("lake", "c", 118, 1)]
    counts.report([RecordCount("t", minute, side, part, number) for side, part, minute, number in told], {"t": 0})  # type: ignore[arg-type]
    counts.report([RecordCount("other", 100, "lake", "c", 9)], {})
    assert counts.by_slot("t", (0, 200), 10, 8) == {98: (4, 0), 108: (3, 5), 118: (0, 1)}
    assert counts.by_slot("t", (108, 118), 10, 0) == {100: (3, 5)}
