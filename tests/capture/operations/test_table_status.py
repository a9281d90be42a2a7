"""Where capture stands, out of the tables' own commits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.capture.commits.commit_state import Commit, CommitState
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.heartbeat.idle_or_broken import Health
from tidemark.capture.operations.snapshot_blockers import blockers_of
from tidemark.capture.operations.table_status import Around, table_status
from tidemark.capture.source_table import SourceTable

NOW = datetime(2026, 3, 24, 0, 1, tzinfo=UTC)
ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("order_id",), None, ())


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def commit(version: int, at: datetime, *closes: str, **counts: int) -> Commit:
    shards = {name.replace("__", "."): count for name, count in counts.items()}
    state = CommitState(
        batch=version,
        offsets={"cdc.a": 40, "cdc.b": 7},
        watermarks={"a": ms(NOW), "b": ms(NOW - timedelta(hours=1)), "a.school.orders_0": ms(NOW)},
        counts={"changes": sum(shards.values()), **shards},
        closes=tuple(SliceEnd(1, "ods_orders", "day", name) for name in closes),
        beats={"a": ms(NOW - timedelta(seconds=4)), "b": ms(NOW - timedelta(hours=1))},
        initial_load_pending=("b.school.orders_2",),
    )
    return Commit(version, at, state)


def test_a_tables_state_is_that_of_its_newest_commit_and_its_rate_that_of_the_last_hour() -> None:
    commits = [
        commit(3, NOW - timedelta(minutes=1), a__school__orders_0=3000),
        commit(2, NOW - timedelta(minutes=30), "2026-03-23", a__school__orders_0=600),
        commit(1, NOW - timedelta(hours=2), "2026-03-22", a__school__orders_0=999),
    ]
    halted = [
        BinlogFinding("b", 7, FindingKind.FILES_MISSING, "binlog.000004"),
        BinlogFinding("a", 40, FindingKind.SHARD_VANISHED, "dropped", "a.school.users"),
    ]
    table = table_status(ORDERS, commits, Around({"a": 45, "b": 7}, halted, NOW))
    assert (table.watermark, table.last_snapshot) == (NOW - timedelta(hours=1), "2026-03-23")
    assert [(shard.shard, shard.rate) for shard in table.shards] == [("a.school.orders_0", 1.0)]
    assert table.initial_load_pending == ("b.school.orders_2",)
    a, b = table.streams["a"], table.streams["b"]
    assert (a.offset, a.lag, a.diagnosis.health, a.halted) == (40, 5, Health.LIVE, ())
    assert (b.lag, b.diagnosis.health, b.halted) == (0, Health.BROKEN, (halted[0],))


def test_a_recording_is_not_broken() -> None:
    later = NOW + timedelta(days=240)
    recorded = table_status(ORDERS, [commit(1, NOW)], Around({}, [], later, written=False))
    assert {stream.diagnosis.health for stream in recorded.streams.values()} == {Health.UNKNOWN}
    assert recorded.streams["a"].diagnosis.reason.startswith("the heartbeats of a are a recording, the last one was at")
    watched = table_status(ORDERS, [commit(1, NOW)], Around({}, [], later))
    assert {stream.diagnosis.health for stream in watched.streams.values()} == {Health.BROKEN}


def test_before_the_first_commit_nothing_is_known() -> None:
    table = table_status(ORDERS, [], Around({}, [], NOW))
    assert (table.watermark, table.last_snapshot, table.shards) == (None, None, ())
    assert table.streams["a"].lag is None
    assert table.streams["a"].diagnosis.health is Health.UNKNOWN


def test_a_snapshot_is_held_back_by_the_instances_that_are_not_read_to_its_end() -> None:
    table = table_status(ORDERS, [commit(1, NOW, a__school__orders_0=1)], Around({"b": 9}, [], NOW))
    (told,) = blockers_of(table, NOW, UTC)
    assert told == (
        "instance b: read to 2026-03-23 23:01:00+00:00, 2 records wait in Kafka; "
        "broken: the last heartbeat of b is 60 min old (2026-03-23 23:01:00+00:00): nothing arrives now"
    )
    assert blockers_of(table, NOW - timedelta(hours=2), UTC) == []
    later = blockers_of(table, NOW + timedelta(seconds=1), ZoneInfo("Europe/Paris"))
    assert later[0].startswith(
        "instance a: read to 2026-03-24 01:01:00+01:00, "
        "newest change 2026-03-24 01:01:00+01:00 on shard a.school.orders_0;"
    )
