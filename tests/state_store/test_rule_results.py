"""Results of rules: each result is stored, the newest comes first, and plain SQL can read them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from tidemark.dependency_model.entity.quality_rules import NotNull, WithinRange
from tidemark.dependency_model.entity.rule_text import rule_text
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.rule_results import RuleResults, StoredRuleResult

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

NOW = datetime(2026, 3, 24, 0, 5, tzinfo=UTC)
DAY = Slice("ods_orders", "2026-03-23")
HELD = StoredRuleResult(
    DAY, "not_null", NOW, "block", "passed", "not_null: id", "0 rows", {"not_null": 0}, 10, 4, 0, "state"
)
BROKEN = replace(HELD, rule="range", outcome="broken", expected="range: amount", measured={"range": 3}, version=None)


@pytest.fixture
def results(database: Database) -> RuleResults:
    return RuleResults(database)


def test_each_result_is_stored_once_and_the_newest_comes_first(results: RuleResults) -> None:
    later = replace(BROKEN, judged_at=NOW + timedelta(hours=1), outcome="passed", version=9)
    for _ in range(2):
        results.put([HELD, BROKEN, later])
    assert results.newest() == [later, HELD, BROKEN]
    assert results.newest(most=1) == [later]
    assert results.newest("ods_orders", "2026-03-23", ["broken", "unknown"]) == [BROKEN]
    assert results.newest("ods_orders", "2026-03-24") == results.newest("ods_users") == []


def test_people_select_from_it(results: RuleResults, database: Database) -> None:
    results.put([HELD, BROKEN])
    query = "SELECT entity, key, rule, outcome, measured, version FROM quality_results WHERE outcome <> 'passed'"
    with database.reading() as connection:
        (row,) = connection.execute(text(query)).all()
    assert (*row[:4], json.loads(row[4]), row[5]) == ("ods_orders", "2026-03-23", "range", "broken", {"range": 3}, None)


def test_passed_rules_count_for_whole_versions_of_the_same_table(results: RuleResults) -> None:
    """A base that is newer, of another table, broken or with late changes on top would let broken rows pass."""
    later = replace(HELD, version=6)
    others = [
        replace(HELD, version=9),
        replace(later, table_state="another"),
        replace(later, outcome="broken"),
        replace(later, late_batch=3),
        replace(later, slice=Slice("ods_users", DAY.key)),
        replace(later, outcome="unknown"),
    ]
    hours = enumerate(others, start=1)
    results.put([HELD, *(replace(other, judged_at=NOW + timedelta(hours=hour)) for hour, other in hours)])
    assert results.held_at("ods_orders", "state", 7) == {"not_null: id": 4}
    assert results.held_at("ods_orders", "state", 9) == {"not_null: id": 9}
    assert results.held_at("ods_orders", "state", 3) == {}


def test_old_results_are_deleted(results: RuleResults) -> None:
    results.put([HELD, replace(HELD, judged_at=NOW + timedelta(days=2))])
    assert results.forget(NOW + timedelta(days=3), timedelta(days=2)) == 1
    assert [result.judged_at for result in results.newest()] == [NOW + timedelta(days=2)]


def test_a_rules_text_has_its_condition_and_not_its_consequences() -> None:
    assert (
        rule_text(NotNull(("id",), severity="warn")) == rule_text(NotNull(("id",))) == 'not_null: {"columns": ["id"]}'
    )
    assert rule_text(WithinRange("amount", 0)) == 'range: {"column": "amount", "min": 0}'
    assert (
        len(
            {
                rule_text(rule)
                for rule in (WithinRange("a", 0), WithinRange("a", None, 0), WithinRange("a", 0, where="b"))
            }
        )
        == 3
    )
