"""Bad quality rules are refused with their file and line, before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.dependency_model.entity.entity_parser import parse_entity
from tidemark.errors import EntityErrors

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "period: day\ndepends_on: [{entity: sales, offset: Set 0}]\nquality:\n  - unique: [id]\n"
QUERY = "SELECT id, amount, region FROM sales WHERE dt = :biz_date\n"


def problems(folder: Path, rule: str) -> list[str]:
    try:
        small_warehouse(folder, {"lines": (f"{HEAD}  - {rule}\n", QUERY)})
    except EntityErrors as errors:
        return [str(error) for error in errors.problems]
    return []


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("range: {column: amount}", "range needs min, max or both"),
        ("range: {column: amount, min: 5, max: 1}", "min 5 is above max 1"),
        ('range: {column: amount, min: 5, max: "a"}', "of different types"),
        ("pattern: {column: region, matches: '(a'}", "is not a regular expression"),
        ("not_null: {columns: [id], severity: error}", "severity: expected one of block, warn"),
        ("row_count: {min: 1, quarantine: true}", "does not check single rows"),
        ("row_count: {growth: 0.5, where: id > 1}", "growth and same_weekday cannot have where"),
        ("query: {no_rows: SELECT 1, where: id > 1}", "has no where"),
        ("freshness: {column: at, within: soon}", "expected a duration"),
        ("referential: {columns: [id, region], entity: sales, key: [id]}", "2 columns cannot be a key of 1"),
        ("rnage: {column: amount, min: 1}", "range"),
        ("not_null: {columns: [id], where: 'id >'}", "where is not SQL: an operand is missing: found id >>>><<<"),
        ("not_null: {columns: [id], where: 'abs(id) + id)'}", "unexpected token: found abs(id) + id>>>)<<<"),
        ('not_null: {columns: [id], where: "id = \'a"}', "a quote or a comment has no end"),
        ("reconcile: {value: sum(amount, equals: SELECT 1}", "value is not SQL: expecting ): found sum(>>>amount<<<"),
        ("not_null: {columns: [id], where: 'id > 1) OR (TRUE'}", "where is"),
        ("expression: {holds: 'amount > 1; DROP TABLE sales'}", "holds is"),
        ("query: {no_rows: DELETE FROM slice_rows}", "no_rows is not one query"),
        ("query: {no_rows: SELECT * FROM totals}", "lines does not read that table"),
        ("referential: {columns: [id], entity: totals}", "lines does not read that entity"),
    ],
)
def test_a_bad_rule_is_refused_at_its_line(tmp_path: Path, rule: str, says: str) -> None:
    (problem,) = problems(tmp_path, rule)
    assert says in problem
    assert "lines.yaml:5" in problem


@pytest.mark.parametrize(
    "rule",
    [
        "referential: {columns: [id], entity: sales}",
        "query: {no_rows: WITH a AS (SELECT * FROM slice_rows) SELECT id FROM a JOIN sales USING (id) WHERE id < 0}",
        "pattern: {column: region, matches: '\\p{Lu}++'}",
        "expression: {holds: 'amount BETWEEN 0 AND 5 OR region IS NULL', where: id % 2 = 0, severity: warn}",
        "row_count: {growth: 0.5, same_weekday: 0.3}",
    ],
)
def test_a_good_rule_is_taken(tmp_path: Path, rule: str) -> None:
    assert problems(tmp_path, rule) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Static\nquality:\n  - freshness: {column: at, within: 2h}\n", "t.yaml:3: freshness needs the end"),
        ("kind: Static\nquality:\n  - row_count: {growth: 0.1}\n", "t.yaml:3: there are no other slices"),
        ("period: week\nquality:\n  - row_count: {same_weekday: 0.1}\n", "t.yaml:3: a slice has no weekday"),
        (
            "kind: Virtual\nperiod: day\nprobe: {files: {path: '/d/{key}'}}\nquality:\n  - row_count: {growth: 0.1}\n",
            "row_count with growth",
        ),
    ],
)
def test_a_rule_that_does_not_fit_the_entity(text: str, says: str) -> None:
    with pytest.raises(EntityErrors) as caught:
        parse_entity(text, "t")
    assert any(says in str(error) for error in caught.value.problems), [str(error) for error in caught.value.problems]
