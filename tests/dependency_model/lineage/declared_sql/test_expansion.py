"""Functions and variables are put into a text by a closed grammar: nothing that is given can become anything else."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tidemark.dependency_model.lineage.declared_sql.expansion import Expansion
from tidemark.dependency_model.lineage.declared_sql.sql_function import SqlFunction
from tidemark.dependency_model.lineage.declared_sql.variable import VariableValue, constant
from tidemark.errors import ParseError, QueryError


def _function(name: str, arguments: str, expression: str, *, returns: str = "", is_macro: bool = True) -> SqlFunction:
    return SqlFunction.parse(name, tuple(arguments.split()), expression, is_macro=is_macro, returns=returns)


FUNCTIONS = {
    function.name: function
    for function in (
        _function("before", "d n", "date_sub(d, n)"),
        _function("week_before", "d", "before(d, 7)"),
        _function("minus", "a b", "a - b"),
        _function("as_day", "x", "to_date(x, 'yyyyMMdd')", returns="date"),
        _function("shop_day", "x", "date_sub(x, 1)", is_macro=False),
        _function("eu", "", "'eu'"),
    )
}
EXPANSION = Expansion(FUNCTIONS, {"least": "3", "region": "'eu'"})


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("dt = before(:biz_date, 1)", "dt = (date_sub(:biz_date, 1))"),
        ("dt = BEFORE (o.dt , 1 )", "dt = (date_sub(o.dt, 1))"),
        ("minus(1, -1 + x)", "(1 - (-1 + x))"),
        ("week_before(before(d, 1))", "((date_sub(((date_sub(d, 1))), 7)))"),
        ("as_day(ds)", "CAST(to_date(ds, 'yyyyMMdd') AS DATE)"),
        ("shop_day(dt)", "shop_day(dt)"),
        ("eu() || ', before(a, b)' -- before(", "('eu') || ', before(a, b)' -- before("),
        ("o.before(1), `before`(1), :before(1), before", "o.before(1), `before`(1), :before(1), before"),
        ("x > :least AND :region = ':least' AND :leastwise", "x > 3 AND 'eu' = ':least' AND :leastwise"),
        ("minus(f(1, 2), 'a, b')", "(f(1, 2)) - ('a, b')"),
    ],
)
def test_calls_become_expressions(text: str, runs: str) -> None:
    assert _bare(EXPANSION.runs(text, "q.sql")) == _bare(runs)


def _bare(text: str) -> str:
    """Without brackets, of which there may be more than it takes."""
    return text.replace("(", "").replace(")", "")


def test_what_sparks_own_functions_do_is_for_the_analysis_alone() -> None:
    assert EXPANSION.runs("shop_day(dt)", "q.sql") == "shop_day(dt)"
    assert EXPANSION.means("shop_day(dt)", "q.sql") == "(date_sub(dt, 1))"


def test_lines_stay_where_they_are_and_comments_end_nothing() -> None:
    text = "SELECT before(a, -- the day\n  1 /* one */\n) AS x,\n y\nFROM t"
    told = EXPANSION.runs(text, "q.sql")
    assert told.splitlines()[3:] == text.splitlines()[3:]
    assert "--" not in told
    assert "/*" not in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,\n  before(a)", ("q.sql:2:3", "before(d, n)")),
        ("before(a, b, c)", ("q.sql:1:1", "before(d, n)")),
        ("week_before()", ("q.sql:1:1", "week_before(d)")),
        ("x + before(a, week_before(a, 1))", ("q.sql:1:5", "week_before(d)")),
        ("before(a, b", ("q.sql:1:1", "do not close")),
    ],
)
def test_wrong_calls_are_told_with_their_place(text: str, words: tuple[str, str]) -> None:
    with pytest.raises(QueryError) as error:
        EXPANSION.runs(text, "q.sql")
    assert all(word in str(error.value) for word in words)


def test_a_function_does_not_call_itself() -> None:
    ring = {name: _function(name, "x", f"{other}(x)") for name, other in (("f", "g"), ("g", "h"), ("h", "f"))}
    with pytest.raises(QueryError, match=r"calls itself.*f -> g -> h -> f"):
        Expansion(ring).runs("f(1)", "q.sql")


@pytest.mark.slow
def test_text_that_doubles_at_each_call_is_stopped() -> None:
    bomb = {f"f{at}": _function(f"f{at}", "x", f"f{at + 1}(x) + f{at + 1}(x)") for at in range(30)}
    bomb["f30"] = _function("f30", "x", "x * x")
    with pytest.raises(QueryError, match="too long"):
        Expansion(bomb).runs("f0(1)", "q.sql")


@pytest.mark.parametrize(
    "expression",
    [
        "(SELECT max(dt) FROM orders)",
        "select",
        "x); DROP TABLE t --",
        "x) OR (1 = 1",
        "x -- comment",
        "x /* y */",
        "x; x",
        "`x`",
        '"x"',
        "{{ ''.__class__.__mro__ }}",
        "{% for x in y %}",
        "${bizdate}",
        ":biz_date",
        "@x",
        "x || '",
        "reflect('java.lang.Runtime', 'getRuntime')",
        "java_method('java.lang.System', 'exit', 1)",
        "TRY_REFLECT('a', 'b')",
        "current_date()",
        "current_timestamp",
        "rand()",
        "other_column + x",
        "orders.dt",
        "transform(array(x), y -> y)",
        "EXISTS (x)",
        "explode(x)",
        "",
        "x" * 3_000,
        "x\\",
        "x\0",
    ],
)
def test_an_expression_reads_and_runs_nothing_else(expression: str) -> None:
    with pytest.raises(ParseError):
        _function("f", "x", expression)


@pytest.mark.parametrize("name", ["SELECT", "date", "f-g", "f(", "", "1f", "F", "día", "reflect", "x" * 65])
def test_names_are_plain(name: str) -> None:
    with pytest.raises(ParseError):
        _function(name, "x", "x")
    with pytest.raises(ParseError):
        SqlFunction.parse("f", (name,), "1", is_macro=True)


@given(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" '\\;-"), max_size=60
    )
)
def test_a_text_is_one_constant_whatever_stands_in_it(value: str) -> None:
    text = Expansion(variables={"v": constant("v", value)}).runs("SELECT :v AS a, ':v' AS b", "q.sql")
    tree = sqlglot.parse_one(text, dialect="spark")
    first, second = tree.expressions
    assert isinstance(first.this, exp.Literal)
    assert (first.this.this, second.this.this) == (value, ":v")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "TRUE"),
        (-3, "(-3)"),
        (2.5, "2.5"),
        (1e20, "100000000000000000000"),
        (Decimal("0.10"), "0.10"),
        (dt.date(2026, 3, 29), "DATE '2026-03-29'"),
        ("it's \\", "'it\\'s \\\\'"),
    ],
)
def test_constants_are_written_as_sql_has_them(value: VariableValue, text: str) -> None:
    assert constant("v", value) == text


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**40, "a\nb", "a\0", "x" * 2_000, dt.datetime(2026, 1, 1, tzinfo=dt.UTC)]
)
def test_what_is_no_constant_is_refused(value: VariableValue) -> None:
    with pytest.raises(ParseError):
        constant("v", value)


@pytest.mark.parametrize("name", ["biz_date", "period_start", "a b", "1", "", "A"])
def test_a_variable_is_no_parameter_of_business_time(name: str) -> None:
    with pytest.raises(ParseError):
        constant(name, 1)
