"""Every rule that can be declared has a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.dagster.metadata.rules_in_words import rule_in_words
from tidemark.dependency_model.entity.quality_rules import RULES, AcceptedValues, NotNull, Reconcile, RowCount, Unique

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.quality_rules import QualityRule

SENTENCES: list[tuple[QualityRule, str]] = [
    (NotNull(("a", "b")), "No row has NULL in a, b."),
    (Unique(("course_id",)), "No two rows of a slice have the same course_id."),
    (RowCount(1), "A slice has at least 1 rows."),
    (RowCount(1, 9), "A slice has 1 to 9 rows."),
    (AcceptedValues("region", ("cn", "eu")), "region is one of cn, eu."),
    (Reconcile("sum(x)", "SELECT 1"), "sum(x) of a slice equals `SELECT 1`."),
    (Reconcile("sum(x)", "SELECT 1", 0.001), "sum(x) of a slice equals `SELECT 1`, 0.1000% more or less."),
]


@pytest.mark.parametrize(("rule", "sentence"), SENTENCES)
def test_a_rule_is_a_sentence(rule: QualityRule, sentence: str) -> None:
    assert rule_in_words(rule) == sentence


def test_no_rule_is_left_out() -> None:
    assert {type(rule) for rule, _ in SENTENCES} == set(RULES.values())
