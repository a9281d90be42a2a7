"""Ranges, marks, the pace, the cursor and what is kept of findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.capture.audit.audited_range import AuditedRange, Patch, is_in_buckets, is_in_slice
from tidemark.capture.audit.cursor import AuditCursor, KeptAuditCursor
from tidemark.capture.audit.findings import AuditFinding, AuditFindings, bounded
from tidemark.capture.audit.group_checksum import GroupChecksum, differing
from tidemark.capture.audit.hold_entries import HoldEntries, HoldEntry
from tidemark.capture.audit.look import StepsUnderWay
from tidemark.capture.audit.pace import AuditPace
from tidemark.capture.audit.row_comparison import DifferenceKind
from tidemark.capture.audit.source_mark import SourceMark
from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.binlog.position import Position
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.read_progress import InstanceProgress, ReadProgress
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

SHARD = "a.school.orders_0"
PATCH = Patch("ods_orders", SHARD, AuditedRange("5", "9"), (1, 2), (6, 9))


def progress(file: int, pos: int, watermark_ms: int = 0, base: str = "binlog") -> InstanceProgress:
    return InstanceProgress(1, watermark_ms, BinlogProgress(base, Position(file, pos), 0))


def test_a_mark_is_passed_by_its_place_in_the_log() -> None:
    mark = SourceMark.of(1_000, "binlog.000007", 500)
    assert not mark.is_passed(progress(7, 499, watermark_ms=9_000))
    assert mark.is_passed(progress(7, 500))
    assert mark.is_passed(progress(8, 4))


def test_a_mark_is_passed_by_time_where_places_cannot_be_compared() -> None:
    for mark in (SourceMark.of(1_000, "other.000007", 500), SourceMark(1_000), SourceMark.of(1_000, "nonsense", 5)):
        assert not mark.is_passed(progress(7, 900, watermark_ms=1_000))
        assert mark.is_passed(progress(7, 1, watermark_ms=1_001))
    assert not SourceMark(1_000).is_passed(InstanceProgress(1))


def test_progress_is_that_of_the_last_step(tmp_path: Path) -> None:
    source = SourceTable("ods_orders", "school.orders_*", ("a",), ("id",), None, ())
    kept = ReadProgress(Database.of(Settings.at(tmp_path)))
    assert kept.read("ods_orders") == {}
    binlog = BinlogProgress("b", Position(1, 4), 2)
    state = CommitState(offsets={"cdc.a": 7}, watermarks={"a": 5}, positions={"a": binlog})
    kept.write([source], {"ods_orders": state})
    assert kept.read("ods_orders") == {"a": InstanceProgress(7, 5, binlog)}


def test_questions_take_their_share_of_the_time() -> None:
    now = [100.0]
    pace = AuditPace(0.1, None, lambda: now[0])
    assert pace.wait == 0.0
    now[0] = 102.0
    pace.asked(100.0)
    assert (pace.wait, pace.busy) == (18.0, 2.0)
    capped = AuditPace(0.1, 2.0, lambda: now[0])
    capped.asked(101.9)
    assert round(capped.wait, 6) == 29.9


def test_buckets_differ_by_count_or_checksum_and_where_one_side_has_none() -> None:
    same, other = GroupChecksum(2, 7), GroupChecksum(3, 7)
    assert differing({1: same, 2: same, 3: same}, {1: same, 2: other, 4: same}) == (2, 3, 4)


def test_conditions_of_slices_and_buckets() -> None:
    assert is_in_slice("k", AuditedRange()) == "TRUE"
    assert is_in_slice("k", AuditedRange(slice_=1, slices=4)) == "MOD(CRC32(k), 4) = 1"
    assert (is_in_buckets("b", ()), is_in_buckets("b", (3, 5))) == ("TRUE", "b IN (3, 5)")


def test_the_cursor_moves_past_finished_steps_in_order(tmp_path: Path) -> None:
    steps = StepsUnderWay()
    for number in (1, 2):
        steps.begin(number, AuditCursor("t", SHARD, str(number)))
    steps.add(2, -1)
    assert steps.settled() is None
    steps.add(1, 1)
    steps.add(1, -2)
    assert steps.settled() == AuditCursor("t", SHARD, "2")
    file = KeptAuditCursor(Database.of(Settings.at(tmp_path)))
    file.write(AuditCursor("t", SHARD, "2"))
    assert file.read() == AuditCursor("t", SHARD, "2")
    file.clear()
    assert file.read() == AuditCursor()


def test_open_findings_are_kept_with_the_command_that_repairs_them(tmp_path: Path) -> None:
    rows = {str(key): DifferenceKind.MISSING for key in range(6, 1_300)}
    finding = bounded(rows, AuditFinding("f1", PATCH, "now", {}, 0)).seen((), ("6", "1299"))
    kept = AuditFindings(Database.of(Settings.at(tmp_path)))
    kept.put(finding)
    assert kept.open() == (finding,)
    assert (len(finding.rows), finding.count) == (1_000, 1_294)
    assert finding.reload == f"tidemark capture reload ods_orders --shard {SHARD} --range 6..1299"
    assert "1294 rows not the source's: 1000 missing in the lake; keys (6), (7)" in finding.summary
    assert "6" in kept.known_rows(SHARD)
    assert kept.known_rows("a.school.orders_1") == frozenset()
    # As it was kept before looks were narrowed to keys.
    entry = finding.to_json()
    del entry["first_values"]
    assert AuditFinding.from_json(entry).patch == replace(PATCH, first_values=())
    kept.remove("f1")
    assert kept.open() == ()


def test_capture_reads_only_entries_after_the_last_applied_one(tmp_path: Path) -> None:
    entries = HoldEntries(Database.of(Settings.at(tmp_path)))
    for number, table in enumerate(("ods_orders", "ods_users", "ods_orders")):
        entries.add(HoldEntry(str(number), table, SHARD, "differs", "why"))
    assert [entry.id for entry in entries.after("ods_orders", ())] == ["0", "2"]
    assert [entry.id for entry in entries.after("ods_orders", ("0",))] == ["2"]
    assert entries.after("ods_orders", ("2",)) == []
