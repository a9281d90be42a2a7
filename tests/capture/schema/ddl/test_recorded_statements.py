"""Statements as Debezium sent them from a MariaDB 10.11: what each did to the rows is known, or the shard is held.

The server's rows before and after each statement were compared when they were recorded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from tests.capture.binlog.logs import binlog_of
from tests.capture.planning.simulated_capture import scan_of
from tidemark.capture.binlog.consecutive_records import Seen
from tidemark.capture.binlog.gtid_policy import SPARSE
from tidemark.capture.binlog.position import Position
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.planning.continuity_of_scan import judge_binlogs
from tidemark.capture.planning.unlogged_effects import TableEffects, table_effects
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet
from tidemark.capture.source.scan_summary import Summary
from tidemark.capture.source_table import SourceTable

RECORDED: Final = Path(__file__).with_name("recorded_statements.jsonl")
HELD: Final = "held"
UNCHANGED: Final = "unchanged"
# The statement's effect on the rows that were there: their new values, by column.
SERVER: Final[dict[str, str | dict[str, str | None]]] = {
    "k16_date_to_datetime": UNCHANGED,
    "k17_int_to_bigint": UNCHANGED,
    "k18_decimal_scale": UNCHANGED,
    "k11_float_to_double": UNCHANGED,
    "k21_utf8mb3_to_mb4": UNCHANGED,
    "a03_add_then_drop_same": {"v": "7"},
    "a04_drop_then_add_same": {"v": "7"},
    "a05_add_if_not_exists_there": UNCHANGED,
    "a06_add_if_not_exists_mixed": {"n": "6"},
    "a08_backslash": {"c": "a\nb'c"},
    "a09_default_number_as_text": {"c": "1.5"},
    "a13_bit_default": {"c": "1"},
    "a14_bool_true": {"c": "1"},
    "a18_options_instant": {"c": "3"},
    "a19_comment_quotes": {"c": "x"},
    "a21_mysql_version_comment_not_executed": {"c": "4"},
    "a22_set_default_only": UNCHANGED,
    "a23_drop_column_if_exists_absent": {"nope": None, "c": "2"},
    "a24_rename_case": UNCHANGED,
    "a27_column_order": UNCHANGED,
    "a29_default_null_text": {"c": "NULL"},
    "a30_float_default": {"c": "0.1", "d": "0.1"},
    "a33_unicode_default": {"c": "ä🎉"},
    "a34_latin1_default": {"c": "ä"},
    "r11_reorganize": UNCHANGED,
    "r12_ctas_shard_1": UNCHANGED,
    "r13_like_insert_1": UNCHANGED,
    "r28_temporary_same_name": UNCHANGED,
}
# More than one statement, or of which the drop halts the table by itself (dropped_shards.py).
SEVERAL: Final = {"a31_drop_and_readd", "r07_drop_create", "r31_session_other_db", "r34_import_other_db"}
# Held for less: what a strict server does is no other value, and nobody knows how strict it was, or what it read.
CAREFUL: Final = {
    "a26_auto_inc_bigint",
    "a28_add_column_zero_datetime",
    "k09_float_fewer_digits",
    "k13_text_to_json",
    "k14_time_to_varchar",
    "n09_date_not_null",
}


def recorded() -> dict[str, list[dict[str, Any]]]:
    cases: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        cases[record["case"]].append(record)
    return cases


CASES: Final = recorded()


def effects_of(case: str) -> TableEffects:
    """What the statements of a case do to its table, without those by which it was made."""
    first, _, number = case.rpartition("_")
    table = f"shop.{first}_*" if number.isdigit() else f"shop.{case}"
    source = SourceTable("t", table, ("a",), ("id",), None, (("t", "day", "2026-03-23"),))
    groups = [_group(record) for record in CASES[case]]
    seen = [Seen(record["offset"], "binlog", Position(2, record["pos"]), 1) for record in CASES[case]]
    summary = Summary(groups, {"a": binlog_of(seen)})
    return table_effects(source, scan_of(summary, {}), judge_binlogs(summary, {}, SPARSE, {}), CommitState())


def _group(record: dict[str, Any]) -> dict[str, Any]:
    changes = [
        {"type": table["type"], "id": table["id"], "table": table["columns"] and {"columns": table["columns"]}}
        for table in record["tables"]
    ]
    names = ("path", "physical", "loaded", "load", "load_problem", "altered", "requested", "first_change")
    return {
        **dict.fromkeys(names),
        "instance": "a",
        "first_offset": record["offset"],
        "alone": record["offset"],
        "ddl": record["ddl"],
        "ddl_database": record["database"],
        "is_cut": False,
        "changes": json.dumps(changes),
        "is_load": False,
    }


@pytest.mark.parametrize("case", sorted(CASES.keys() - SEVERAL))
def test_a_statement_has_the_servers_effect_or_holds_its_shard(case: str) -> None:
    effects = effects_of(case)
    found: list[str | dict[str, str | None]] = [HELD for _ in effects.holds]
    for row in effects.rows:
        assert isinstance(row.effect, ColumnsSet)
        found.append(dict(row.effect.values))
    expected = SERVER.get(case, HELD)
    if expected is HELD:
        assert set(map(str, found)) == {HELD}, (case, found)
    else:
        assert found == ([] if expected == UNCHANGED else [expected])


def test_every_case_that_is_held_without_need_is_listed() -> None:
    """The list may become shorter."""
    assert CAREFUL.isdisjoint(SERVER)
    assert all(effects_of(case).holds for case in CAREFUL)
