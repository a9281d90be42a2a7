"""What becomes of columns, by example; and of random edits, judged by computing both queries with DuckDB."""

from __future__ import annotations

import pytest

from benchmarks.plan.edits import Edit
from benchmarks.plan.judged_edits import judged_edits
from tidemark.dependency_model.code_change.query_change import QueryChange, query_change

BASE = "SELECT region, sum(amount) AS amount, max(x) AS m FROM sales WHERE dt = :biz_date GROUP BY region"
NAMED = [
    ("sum(", "max(", QueryChange(changed=("amount",))),
    ("max(x) AS m", "max(x) AS m, min(x) AS lo", QueryChange(added=("lo",))),
    ("AS m", "AS mm", QueryChange(renamed=(("m", "mm"),))),
    (", max(x) AS m", "", QueryChange(removed=("m",))),
    ("max(x)", "CAST(max(x) AS INT)", QueryChange(retyped=("m",))),
    ("dt =", "dt <=", QueryChange(is_everything=True)),
    ("GROUP BY region", "GROUP -- by\n by region", QueryChange()),
]
EVERYTHING = [
    ("SELECT a FROM t", "SELECT a, explode(b) AS e FROM t"),
    ("SELECT a FROM t", "SELECT a, my_function(b) AS e FROM t"),
    ("SELECT a AS n FROM t", "SELECT a AS n, max(a) AS m FROM t"),
    ("SELECT a, sum(b) AS s FROM t GROUP BY 1", "SELECT a, max(b) AS s FROM t GROUP BY 1"),
    ("SELECT a, sum(b) AS s FROM t GROUP BY ALL", "SELECT a, max(b) AS s FROM t GROUP BY ALL"),
    ("SELECT a AS x, x + 1 AS y FROM t", "SELECT b AS x, x + 1 AS y FROM t"),
    ("SELECT a AS n FROM t ORDER BY n LIMIT 3", "SELECT b AS n FROM t ORDER BY n LIMIT 3"),
    ("SELECT DISTINCT a, b FROM t", "SELECT DISTINCT a, b + 1 AS b FROM t"),
    ("SELECT a FROM t UNION SELECT b FROM u", "SELECT a FROM t UNION ALL SELECT b FROM u"),
    ("SELECT a, b FROM t", "SELECT b, a FROM t"),
    ("SELECT count(*) FROM t", "SELECT sum(a) FROM t"),
    ("SELECT a End FROM t", "SELECT a end FROM t"),
    ("SELECT 1", "no SQL ("),
]


@pytest.mark.parametrize(("old", "new", "change"), NAMED)
def test_columns_are_compared_separately(old: str, new: str, change: QueryChange) -> None:
    assert query_change(BASE, BASE.replace(old, new)) == change


@pytest.mark.parametrize(("old", "new"), EVERYTHING)
def test_a_change_that_may_affect_rows_changes_all_columns(old: str, new: str) -> None:
    assert query_change(old, new).columns == {"*"}


def test_trees_alone_are_not_sound() -> None:
    """Sqlglot's tree of both is the same in Spark's dialect."""
    cast, try_cast = "SELECT CAST(a AS INT) AS n FROM t", "SELECT TRY_CAST(a AS INT) AS n FROM t"
    assert query_change(cast, try_cast).columns == {"n"}


def test_a_name_of_the_table_goes_before_an_alias() -> None:
    old, new = "SELECT a, a * 2 AS d FROM t", "SELECT -a AS a, a * 2 AS d FROM t"
    assert query_change(old, new).columns == {"a"}


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(5_000, marks=pytest.mark.long)])
def test_no_change_of_content_is_called_none(count: int) -> None:
    judged = list(judged_edits(count, seed=count))
    assert [(edit.old, edit.new) for edit in judged if edit.is_missed] == []
    assert [(edit.old, edit.new) for edit in judged if edit.is_needless] == []
    assert {edit.edit for edit in judged} == set(Edit)
    assert any(not edit.is_same and not edit.change.is_everything for edit in judged)
