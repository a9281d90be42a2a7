"""Slices that are complete by counts: seed 002's story through a declaration, a report's text, and the state store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.crawl.source_world import KnownCounts, look
from tidemark.crawl.count_report import read_counts
from tidemark.crawl.errors import CountReportError
from tidemark.state_store.database import Database
from tidemark.state_store.record_counts import RecordCount, RecordCounts

if TYPE_CHECKING:
    from pathlib import Path

PROBE = "counts: {of: foo, slot_minutes: 10, phase: 8}"
BASE = int(datetime(2022, 8, 1, tzinfo=UTC).timestamp()) // 60
AT = 15 * 60 + 58


def story(lake: int, final: int = AT + 10) -> KnownCounts:
    """Every slot from 14:58 on is as it should be, but [15:58, 16:08)."""
    rows = [(BASE + minute, side, "0", 40_000) for minute in range(AT - 60, AT, 10) for side in ("source", "lake")]
    rows += [(BASE + AT + 1, "source", "topic-0", 40_000), (BASE + AT + 9, "lake", "commit-7", lake)]
    return KnownCounts({"foo": rows}, {"foo": BASE + final})


def complete(counts: KnownCounts, **windows: str) -> dict[str, bool]:
    names = {"hour": "hour", "ten": "10min", "five": "5min", "next": "5min", "later": "5min"}
    return {
        name: look(
            PROBE, f"2022-08-01T{key}", period=names[name], counts=counts, now=datetime(2022, 8, 2, tzinfo=UTC)
        ).is_there
        for name, key in windows.items()
    }


def test_one_slot_completes_an_hour_ten_minutes_and_two_times_five() -> None:
    windows = {"hour": "15", "ten": "15:50", "five": "15:55", "next": "16:00", "later": "16:05"}
    at_the_share = {"hour": True, "ten": True, "five": True, "next": True, "later": False}
    assert complete(story(39_998), **windows) == at_the_share
    assert complete(story(40_002), **windows) == at_the_share
    nothing = dict.fromkeys(windows, False)
    assert complete(story(39_997), **windows) == nothing
    assert complete(story(40_003), **windows) == nothing, "too many is as wrong"
    assert complete(story(40_000, final=AT + 9), **windows) == nothing, "the source still counts"


def test_the_result_describes_the_counts() -> None:
    sight = look(PROBE, "2022-08-01T15", period="hour", counts=story(30_000))
    open_slot = "1 of 7 slots are open, missing 10000 from 2022-08-01T15:58Z"
    assert (sight.rows, sight.why) == (270_000, f"270000 of 280000 records, 96.429%; {open_slot}")
    assert dict(sight.figures) == {
        "source_records": 280_000,
        "lake_records": 270_000,
        "percent": 100 * 27 / 28,
        "missing_records": 10_000,
    }
    assert look(PROBE, "2022-08-01T15", period="hour", counts=story(30_000, final=AT)).figures == (), "still counted"
    assert not look(PROBE, "2022-08-02T15", period="hour", counts=story(40_000)).is_there, "no other day"


def test_offsets_of_a_partition_count_as_their_difference() -> None:
    line = '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "source", "part": "topic-0", "offsets": [700, 40700]}'
    assert read_counts([line]) == ([RecordCount("foo", BASE + AT, "source", "topic-0", 40_000)], {})


def test_a_report_is_lines_of_json() -> None:
    counts, final = read_counts(
        [
            '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "lake", "part": "7", "records": 2}\n',
            '{"of": "foo", "at": "2022-08-01T17:58:40+02:00", "side": "lake", "part": "7", "records": 3}\n',
            "\n",
            '{"of": "foo", "final_until": "2022-08-01T16:08:00Z"}\n',
        ]
    )
    assert counts == [RecordCount("foo", BASE + AT, "lake", "7", 5)]
    assert final == {"foo": BASE + AT + 10}


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"of": "foo", "at": "2022-08-01T15:58:30", "side": "lake", "records": 2}',
        '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "sea", "records": 2}',
        '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "lake", "records": -2}',
        '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "lake", "records": 2, "extra": 1}',
        '{"of": "foo", "final_until": 3e400}',
        '{"of": "' + "x" * 5_000 + '"}',
    ],
)
def test_an_invalid_count_is_refused_with_its_line(line: str) -> None:
    good = '{"of": "foo", "at": "2022-08-01T15:58:30Z", "side": "lake", "records": 2}'
    with pytest.raises(CountReportError, match="line 2"):
        read_counts([good, line])


def test_repeated_reports_count_once_in_any_order(tmp_path: Path) -> None:
    counts = RecordCounts(Database.at(tmp_path / "state.db"))
    reports = [
        ([RecordCount("foo", 5, "lake", "commit-1", 10), RecordCount("foo", 6, "source", "0", 10)], {"foo": 8}),
        ([RecordCount("foo", 5, "lake", "commit-1", 10)], {"foo": 7}),
        ([RecordCount("bar", 5, "lake", "commit-1", 3)], {}),
        ([RecordCount("foo", 6, "source", "0", 12)], {}),
    ]
    for told, final in reports:
        counts.report(told, final)
    assert counts.within("foo", 0, 100) == [(5, "lake", "commit-1", 10), (6, "source", "0", 12)]
    assert counts.within("foo", 6, 7) == [(6, "source", "0", 12)]
    assert (counts.final_until("foo"), counts.final_until("bar")) == (8, 0)
    assert counts.reported_after(0, 10) == [(2, "foo", 5), (3, "bar", 5), (4, "foo", 6)]
    assert counts.reported_after(3, 10) == [(4, "foo", 6)]
