"""When a hold begins and ends: by a load of all rows that was asked for after it, or by a person's word."""

from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent, Holds, holds_at

SHARD = "a.school.orders_0"
HELD = HoldEvent("a", 5, SHARD, "held", detail="RENAME")


def event(offset: int, what: str) -> HoldEvent:
    assert what in ("asked", "asked in part", "loaded", "held")
    return HoldEvent("a", offset, SHARD, what)  # type: ignore[arg-type]


def after(*events: HoldEvent) -> Holds:
    return holds_at(Holds(), events, {}, {"a": 1_000})


def test_a_load_that_was_asked_for_after_the_hold_ends_it() -> None:
    assert after(HELD, event(6, "asked"), event(9, "loaded")) == Holds()
    assert after(HELD, event(9, "loaded")) == Holds()
    assert [hold.offset for hold in after(HELD, event(6, "asked")).open] == [5]


def test_a_load_that_may_have_begun_before_the_hold_does_not_end_it() -> None:
    begun = (event(1, "asked"), HELD, event(6, "loaded"))
    assert [hold.offset for hold in after(*begun).open] == [5]
    assert after(*begun, event(7, "asked"), event(9, "loaded")) == Holds()


def test_a_load_of_some_rows_ends_no_hold() -> None:
    in_part = (HELD, event(6, "asked in part"), event(9, "loaded"))
    assert [hold.offset for hold in after(*in_part).open] == [5]
    assert after(*in_part, event(10, "asked"), event(11, "loaded")) == Holds()


def test_another_shards_load_ends_no_hold() -> None:
    holds = after(HELD, HoldEvent("a", 6, "a.school.orders_1", "loaded"))
    assert [hold.shard for hold in holds.open] == [SHARD]


def test_what_is_accepted_by_its_instance_and_offset_holds_no_more() -> None:
    holds = after(HELD)
    assert holds.holds_to_accept({"a": {4}, "b": {5}}) == holds.open
    assert holds.without({"a": {5}}) == Holds()


def test_events_of_other_batches_are_not_taken() -> None:
    events = [HELD, event(6, "asked"), event(9, "loaded")]
    first = holds_at(Holds(), events, {"a": 0}, {"a": 6})
    assert [hold.offset for hold in first.open] == [5]
    assert holds_at(first, events, {"a": 6}, {"a": 20}) == Holds()


def test_the_number_of_holds_is_bounded() -> None:
    holds = after(*(HoldEvent("a", at, SHARD, "held", FindingKind.QUARANTINED) for at in range(300)))
    assert len(holds.open) == 100
    assert holds.open[-1].offset == 299


def test_holds_travel_in_a_commit() -> None:
    holds = after(HELD, event(6, "asked"), HoldEvent("a", 7, SHARD, "held", FindingKind.QUARANTINED, "2"))
    state = CommitState(holds=holds)
    assert CommitState.from_json(state.to_json()) == state
