"""What a commit says of itself survives the way through JSON; what others wrote is not ours."""

from dataclasses import replace
from pathlib import Path

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.binlog.position import Position
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.schema.lake_column_types import source_column
from tidemark.capture.schema.table_columns import ColumnShape, TableColumns

AMOUNT = source_column("t", "amount", "DECIMAL", 10, 2)
STATE = CommitState(
    batch=7,
    offsets={"cdc.a": 12, "cdc.b": 3},
    watermarks={"a": 1774220400000, "a.school.orders_0": 1774220300000},
    counts={"changes": 5, "late": 1},
    closes=(SliceEnd(1774220400000, "ods_orders", "day", "2026-03-22"),),
    closed={"ods_orders": 1774220400000},
    columns=TableColumns(
        lake=(AMOUNT, source_column("t", "at", "DATETIME", None, None)),
        first={"amount": source_column("t", "amount", "INT", None, None)},
        shapes=(ColumnShape("a.school.orders_0", 7, AMOUNT),),
    ),
    positions={"a": BinlogProgress("binlog", Position(3, 4711, 2), 1774220400000, {"1": 42})},
    beats={"a": 1774220399000},
    initial_load_pending=("b.school.orders_1",),
)


def test_json_and_back() -> None:
    assert CommitState.from_json(STATE.to_json()) == STATE
    assert CommitState.from_json(STATE.to_json().replace('"positions"', '"unknown"')) == replace(STATE, positions={})
    assert STATE.tagged_until == 1774220400000


def test_a_commit_without_late_changes_opens_no_snapshot_again() -> None:
    restates = (SliceEnd(1774220400000, "ods_orders", "day", "2026-03-22"),)
    late = replace(STATE, restates=restates)
    assert CommitState.from_json(late.to_json()) == late
    assert late.own_restates == restates
    assert replace(late, batch=8, counts={"changes": 3, "late": 0}).own_restates == ()
    assert replace(late, batch=8, counts={}).own_restates == ()


def test_commits_of_others_are_passed_over() -> None:
    for text in (None, "", "by hand", "[]", '{"app": "something else"}'):
        assert CommitState.from_json(text) is None


def test_no_table_no_commit(tmp_path: Path) -> None:
    assert last_commit(tmp_path / "nothing") is None
    assert CommitState().tagged_until is None
