"""A slice that never gets a tag says why: it was held when it ended, or its rows were never all there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import Commit, CommitState
from tidemark.capture.commits.holds import Hold, Holds
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.operations.untagged_reason import untagged_reason

ENDS = {"2026-03-22": 100, "2026-03-23": 200, "2026-03-24": 300}
HOLD = Hold("a.school.orders_0", 7, FindingKind.NO_ROW_EVENTS, "RENAME TABLE orders_0 TO old")


def commit(batch: int, *closes: str, **more: object) -> Commit:
    ends = tuple(SliceEnd(ENDS[day], "ods_orders", "day", day) for day in closes)
    state = CommitState(batch=batch, closes=ends, closed={"ods_orders": ENDS[closes[-1]]} if closes else {})
    return Commit(batch, datetime(2026, 3, 25, tzinfo=UTC), replace(state, **more))  # type: ignore[arg-type]


def reason(log: list[Commit], day: str) -> str | None:
    return untagged_reason(log, "ods_orders", day, ENDS[day])


def test_a_slice_that_ended_while_its_table_was_held_says_so_after_the_reload() -> None:
    held = commit(2, "2026-03-23", holds=Holds((HOLD,)))
    log = [commit(4, "2026-03-24"), commit(3, closed={"ods_orders": 200}), held, commit(1, "2026-03-22")]
    said = reason(log, "2026-03-23")
    assert said is not None
    assert said.startswith("never tagged: the table was held when it ended (shard a.school.orders_0: rows changed")
    assert "tidemark capture accept a 7 tags the version of that time" in said
    assert reason(log, "2026-03-24") is None
    assert reason(log, "2026-03-22") is None


def test_a_slice_without_a_version_has_a_reason() -> None:
    log = [commit(2, "2026-03-24"), commit(1, "2026-03-22")]
    said = reason(log, "2026-03-23")
    assert said is not None
    assert "earlier rows were missing" in said


def test_a_slice_that_is_not_over_may_be_tagged_yet() -> None:
    assert reason([commit(1, "2026-03-22")], "2026-03-23") is None
    assert reason([], "2026-03-23") is None
