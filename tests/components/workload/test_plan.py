"""The planned workload: well-formed whatever the settings, and what hurts is in the one that is recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, timedelta
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.components.workload import clock, texts
from tests.components.workload.changes import Change, RowChange, SchemaChange, Settings
from tests.components.workload.plan import end_of, last_beat, plan
from tests.components.workload.schema import (
    ATTENDANCE,
    COUPON_COLUMN,
    COUPON_DAY,
    HEARTBEAT,
    INSTANCES,
    ORDERS,
    SHARDS,
    instance_of,
)
from tests.components.workload.world import SILENCES, Silence

SPRING_DAY = date(2026, 3, 29)
LAST_DAYS = (date(2026, 3, 30), date(2026, 3, 31))
SHARDED = {**dict.fromkeys(ORDERS.physical, "order_date"), **dict.fromkeys(ATTENDANCE.physical, "lesson_date")}

any_settings = st.builds(
    Settings,
    first_day=st.dates(date(2026, 3, 23), date(2026, 3, 31)),
    days=st.integers(1, 2),
    changes_per_day=st.integers(100, 1_500),
    seed=st.integers(0, 2**32),
)


@cache
def recorded_plan() -> list[Change]:
    """The workload that sample/ is a recording of."""
    return list(plan(Settings()))


def row_changes(changes: list[Change]) -> list[RowChange]:
    return [change for change in changes if isinstance(change, RowChange)]


@pytest.mark.slow
@given(any_settings)
@settings(max_examples=12, deadline=None)
def test_time_never_goes_back_and_ends_with_the_last_heartbeats(chosen: Settings) -> None:
    changes = list(plan(chosen))

    assert all(earlier.at <= later.at for earlier, later in pairwise(changes))
    assert changes[0].at == clock.midnight(chosen.first_day)
    assert {instance: max(c.at for c in changes if c.instance == instance) for instance in INSTANCES} == {
        instance: last_beat(chosen, instance) for instance in INSTANCES
    }
    assert {c.table for c in changes if c.at >= end_of(chosen)} == {HEARTBEAT}


@given(any_settings)
@settings(max_examples=12, deadline=None)
def test_only_rows_that_are_there_change_and_only_others_are_inserted(chosen: Settings) -> None:
    there: set[tuple[str, str, int]] = set()
    for change in row_changes(list(plan(chosen))):
        row = (change.instance, change.table, change.key)
        assert (row in there) == (change.operation != "insert")
        assert change.values or change.operation == "delete"
        if change.operation == "insert":
            there.add(row)
        elif change.operation == "delete":
            there.remove(row)


@pytest.mark.slow
@given(any_settings)
@settings(max_examples=12, deadline=None)
def test_rows_go_to_the_shard_of_their_user(chosen: Settings) -> None:
    changes = row_changes(list(plan(chosen)))

    for change in changes:
        if change.table in SHARDED and change.operation == "insert":
            user = change.values["user_id"]
            assert isinstance(user, int)
            assert change.table.endswith(f"_{user % SHARDS}")
    assert all(change.instance == instance_of(change.table) for change in changes if change.table != HEARTBEAT)


def test_the_same_settings_give_the_same_changes() -> None:
    small = Settings(days=1, changes_per_day=500)

    assert list(plan(small)) == list(plan(small))
    assert list(plan(small)) != list(plan(Settings(days=1, changes_per_day=500, seed=1)))


def test_there_are_enough_changes_besides_heartbeats() -> None:
    assert sum(change.table != HEARTBEAT for change in row_changes(recorded_plan())) >= 150_000


def test_heartbeats_go_on_in_every_minute_of_both_instances() -> None:
    for instance in INSTANCES:
        beats = [c.at for c in recorded_plan() if c.table == HEARTBEAT and c.instance == instance][1:]

        assert all(later - earlier == clock.MINUTE for earlier, later in pairwise(beats))
        assert 0 < beats[0] % clock.MINUTE < 10


@pytest.mark.parametrize("own", SILENCES, ids=lambda own: "+".join(sorted(own.tables)))
def test_a_silent_shard_has_no_changes_for_six_hours_of_a_day_and_then_catches_up(own: Silence) -> None:
    touched = Counter(c.table for c in recorded_plan() if own.start <= c.at < own.end)
    after = Counter(c.table for c in recorded_plan() if own.end <= c.at < own.end + 1_200)

    assert own.end - own.start >= 6 * clock.HOUR
    assert 8 <= clock.wall(own.start).hour < clock.wall(own.end).hour <= 18
    assert not own.tables & touched.keys()
    assert touched[HEARTBEAT] >= 2 * 6 * 60
    assert own.tables <= after.keys()


def test_for_hours_an_instance_has_heartbeats_only() -> None:
    silence = SILENCES[-1]
    meanwhile = [c for c in recorded_plan() if silence.start <= c.at < silence.end]

    assert {c.table for c in meanwhile if c.instance == "b"} == {HEARTBEAT}
    assert len({c.table for c in meanwhile if c.instance == "a"}) > 4


def test_every_hour_of_the_last_two_days_has_changes_of_both_hourly_tables() -> None:
    changed = {(c.table.rstrip("_0123"), c.at // clock.HOUR) for c in recorded_plan() if c.table in SHARDED}
    wanted = [hour for day in LAST_DAYS for hour in clock.hours(day)]

    assert len(wanted) == 48
    assert all((table.name, hour // clock.HOUR) in changed for hour in wanted for table in (ORDERS, ATTENDANCE))


@pytest.mark.slow
@pytest.mark.parametrize("day", clock.days(date(2026, 3, 24), 8), ids=str)
def test_both_hourly_tables_change_in_the_seconds_around_each_midnight(day: date) -> None:
    border = clock.midnight(day)
    seconds = {(c.table, c.at - border) for c in recorded_plan() if -1 <= c.at - border <= 1 and c.table in SHARDED}

    assert {(table, second) for table in ORDERS.physical for second in (-1, 0, 1)} <= seconds
    assert {second for table, second in seconds if table in ATTENDANCE.physical} == {-1, 0, 1}


def test_payments_are_dated_within_a_second_of_midnight_on_both_sides_and_some_are_written_after_it() -> None:
    paid = [(c.at, c.values["paid_at"]) for c in row_changes(recorded_plan()) if c.values.get("paid_at")]
    border = clock.midnight(date(2026, 3, 25))

    dates = {clock.wall(border + second) for second in (-1, 0, 1)}
    assert dates <= {paid_at for _, paid_at in paid}
    assert any(at >= border and paid_at == clock.wall(border - 1) for at, paid_at in paid)


def test_nothing_is_dated_in_the_hour_that_spring_skips_and_much_around_it() -> None:
    change = clock.at_hour(SPRING_DAY, 3)
    dated = {value for c in row_changes(recorded_plan()) for value in c.values.values()}
    local = {str(value) for value in dated}

    assert clock.wall(change - 1).isoformat(" ") == "2026-03-29 01:59:59"
    assert {"2026-03-29 01:59:59", "2026-03-29 03:00:00", "2026-03-29 03:00:01"} <= local
    created = {str(c.values["created_at"]) for c in row_changes(recorded_plan()) if c.values.get("created_at")}
    assert not [moment for moment in created if moment.startswith("2026-03-29 02")]


def test_keys_are_inserted_again_after_their_deletion_within_the_second_and_days_later() -> None:
    deleted: dict[tuple[str, int], int] = {}
    waits: dict[str, list[int]] = defaultdict(list)
    for change in row_changes(recorded_plan()):
        if change.operation == "delete":
            deleted[change.table, change.key] = change.at
        elif change.operation == "insert" and (change.table, change.key) in deleted:
            waits[change.table].append(change.at - deleted[change.table, change.key])

    assert waits.keys() == SHARDED.keys()
    assert all(min(waits[table]) == 0 for table in SHARDED)
    assert max(wait for times in waits.values() for wait in times) >= 8 * clock.HOUR


@pytest.mark.slow
def test_partition_columns_change_and_change_back() -> None:
    moves: dict[tuple[str, int], list[object]] = defaultdict(list)
    for change in row_changes(recorded_plan()):
        column = SHARDED.get(change.table, "")
        if column in change.values:
            moves[change.table, change.key].append(change.values[column])

    for table in SHARDED:
        own = [days for (name, _), days in moves.items() if name == table]
        assert sum(first != second for days in own for first, second in pairwise(days)) > 10
        assert any(days[0] == days[2] != days[1] for days in own if len(days) > 2)


def test_the_column_is_added_during_the_fourth_day_shard_by_shard_and_then_used() -> None:
    added = {c.table: c.at for c in recorded_plan() if isinstance(c, SchemaChange) and COUPON_COLUMN in c.ddl}
    using = [c for c in row_changes(recorded_plan()) if COUPON_COLUMN in c.values]

    assert added.keys() == set(ORDERS.physical)
    assert len(set(added.values())) == SHARDS
    assert {clock.wall(at).date() for at in added.values()} == {COUPON_DAY}
    assert all(change.at >= added[change.table] for change in using)
    assert {change.values[COUPON_COLUMN] is None for change in using} == {True, False}
    assert {change.operation for change in using} == {"insert", "update"}


def test_rows_of_earlier_days_are_updated_and_deleted() -> None:
    inserted: dict[tuple[str, int], int] = {}
    late: Counter[tuple[str, str]] = Counter()
    for change in row_changes(recorded_plan()):
        if change.operation == "insert":
            inserted[change.table, change.key] = change.at
        elif change.at - inserted[change.table, change.key] > timedelta(days=1).total_seconds():
            late[change.table, change.operation] += 1

    assert all(late[table, "update"] > 50 for table in SHARDED)
    assert all(late[table, "delete"] > 0 for table in ORDERS.physical)


def test_notes_have_everything_that_breaks_a_careless_reader() -> None:
    notes = {change.values["note"] for change in row_changes(recorded_plan()) if "note" in change.values}

    assert set(texts.HARD_NOTES) <= notes
    assert None in notes
    hard = "".join(texts.HARD_NOTES)
    assert all(mark in hard for mark in ('"', "'", "\\", "\n", "\r", "\t", "|", "\u2028", "🙏"))
    assert max(map(len, texts.HARD_NOTES)) == 255
