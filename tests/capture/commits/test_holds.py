"""When a hold begins and ends: by a load of all rows that was asked for after it, or by a person's word."""

from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent, Holds, holds_at

SHARD = "a.school.orders_0"
HELD = HoldEvent("a", 5, SHARD, "held", detail="RENAME")


def event(offset: int, what: str, load: str = "1") -> HoldEvent:
    assert what in ("asked", "asked in part", "loaded", "loaded early", "failed", "held")
    return HoldEvent("a", offset, SHARD, what, load=load)  # type: ignore[arg-type]


def after(*events: HoldEvent) -> Holds:
    return holds_at(Holds(), events, {}, {"a": 1_000})


def test_a_load_that_was_asked_for_after_the_hold_ends_it() -> None:
    assert after(HELD, event(6, "asked"), event(9, "loaded")) == Holds()
    assert [hold.offset for hold in after(HELD, event(6, "asked")).open] == [5]


def test_a_load_without_a_request_ends_no_hold() -> None:
    assert after(HELD, event(9, "loaded")) == after(HELD)


def test_the_end_of_an_empty_load_may_come_before_its_request() -> None:
    """Debezium reads no rows at once, and sends the signal's own record behind that."""
    in_part = after(HELD, event(6, "loaded early"), event(7, "asked in part"))
    assert (in_part.open, in_part.loading, in_part.ended) == (after(HELD).open, {}, {})
    assert after(HELD, event(6, "loaded early"), event(7, "asked")) == Holds()
    other = after(HELD, event(6, "loaded early"), event(7, "asked", "2"))
    assert [hold.offset for hold in other.open] == [5]


def test_the_end_of_a_later_partial_load_is_not_the_end_of_a_full_load() -> None:
    """The connector names the signal that it took last; the load that was asked for first may be lost."""
    both = (HELD, event(6, "asked"), event(7, "asked in part", "2"), event(9, "loaded", "2"))
    assert [hold.offset for hold in after(*both).open] == [5]
    assert [load.id for load in after(*both).loading[SHARD]] == ["2"]
    whole = (HELD, event(6, "asked"), event(7, "asked", "2"), event(9, "loaded", "2"))
    assert after(*whole).open == ()


def test_a_load_that_failed_is_none_that_goes_on() -> None:
    assert after(HELD, event(6, "asked"), event(8, "failed")) == after(HELD)
    again = (event(9, "asked", "2"), event(10, "loaded", "2"))
    assert after(HELD, event(6, "asked"), event(8, "failed"), *again) == Holds()


def test_an_empty_tables_end_names_the_load_of_another_shard() -> None:
    other = HoldEvent("a", 7, "a.school.orders_1", "asked", load="2")
    assert after(HELD, event(6, "asked"), other, event(8, "loaded early", "2")).open == ()


def test_loads_in_older_commits_have_no_id() -> None:
    older = {"holds": [[SHARD, 5, "rows changed without row events", "", 1]], "loading": {SHARD: [True]}}
    assert Holds.from_json(older).after(event(9, "loaded")) == Holds()


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


def test_a_hold_accepted_by_instance_and_offset_ends() -> None:
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
    quarantined = HoldEvent("a", 7, SHARD, "held", FindingKind.QUARANTINED, "2")
    holds = after(HELD, event(6, "asked"), quarantined, event(8, "loaded early", "7"))
    state = CommitState(holds=holds)
    assert CommitState.from_json(state.to_json()) == state
