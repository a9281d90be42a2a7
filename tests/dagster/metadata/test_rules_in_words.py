"""Every rule that can be declared has a sentence."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tidemark.dagster.metadata.rules_in_words import rule_in_words
from tidemark.dependency_model.entity.quality_rules import (
    RULES,
    AcceptedValues,
    Drift,
    Expression,
    Freshness,
    NoRows,
    NotNull,
    Pattern,
    Reconcile,
    Referential,
    RowCount,
    Unique,
    WithinRange,
)

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.quality_rules import QualityRule

SENTENCES: list[tuple[QualityRule, str]] = [
    (NotNull(("a", "b")), "No row has NULL in a, b."),
    (Unique(("course_id",)), "No two rows of a slice have the same course_id."),
    (RowCount(1), "A slice has at least 1 rows."),
    (RowCount(1, 9), "A slice has 1 to 9 rows."),
    (AcceptedValues("region", ("cn", "eu")), "region is one of cn, eu."),
    (
        RowCount(growth=0.5, same_weekday=0.25),
        "A slice has at least 0 rows, within 50% of the slice before, within 25% of the median of the same weekday.",
    ),
    (WithinRange("x", 0, 9), "x is at least 0 and at most 9."),
    (WithinRange("x", max="2026-01-01"), "x is at most 2026-01-01."),
    (Pattern("code", "^a"), "code matches `^a`."),
    (Expression("a > b", severity="warn"), "`a > b` holds. A warning: it does not block."),
    (Referential(("c",), "courses", ("id",)), "c is a key of courses, id."),
    (Freshness("at", timedelta(hours=2)), "The newest at of a slice is at most 2:00:00 before its end."),
    (NoRows("SELECT 1"), "`SELECT 1` returns no rows."),
    (Drift("x", 0.2), "The distribution of x is at most 0.2 (0 to 1) from that of the same weekday before."),
    (NotNull(("a",), where="b = 1"), "No row has NULL in a. Only rows where b = 1."),
    (Reconcile("sum(x)", "SELECT 1"), "sum(x) of a slice equals `SELECT 1`."),
    (Reconcile("sum(x)", "SELECT 1", 0.001), "sum(x) of a slice equals `SELECT 1`, 0.1000% more or less."),
]


@pytest.mark.parametrize(("rule", "sentence"), SENTENCES)
def test_a_rule_is_a_sentence(rule: QualityRule, sentence: str) -> None:
    assert rule_in_words(rule) == sentence


def test_no_rule_is_left_out() -> None:
    assert {type(rule) for rule, _ in SENTENCES} == set(RULES.values())
