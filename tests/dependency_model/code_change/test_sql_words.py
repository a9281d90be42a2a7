"""Equal words mean equal queries: comments, spaces and capitals of keywords go, all that Spark tells apart stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark

from tidemark.dependency_model.code_change.sql_words import sql_words

ALIKE = [
    ("SELECT a, count(*) AS N -- so many\nFROM t", "select a,COUNT(*) as N from t"),
    ("SELECT 1 /* a /* b */ ' */ AS x", "SELECT 1 AS x"),
    ("SELECT CASE WHEN a THEN (b) END = 1 FROM t", "select case when a then (b) end=1 FROM t"),
    ("SELECT a -- one \\\n, b\nFROM t", "SELECT a FROM t"),
    ("SELECT x FROM t WHERE NOT a AND b IS NULL", "select x from t where not a and b is null"),
    ("SELECT DATE '2026-01-01'", "SELECT DATE'2026-01-01'"),
]
APART = [
    ("SELECT 'a  b'", "SELECT 'a b'"),
    ("SELECT 'A'", "SELECT 'a'"),
    ("SELECT 'a''b'", "SELECT 'a' 'b'"),
    ("SELECT r'\\' , ' -- '", "SELECT r'\\' , ' '"),
    ("SELECT to_json(struct(Amount))", "SELECT to_json(struct(amount))"),
    ("SELECT to_json(struct(End))", "SELECT to_json(struct(end))"),
    ("SELECT CAST(a AS INT)", "SELECT TRY_CAST(a AS INT)"),
    ("SELECT 1.e5", "SELECT 1. e5"),
    ("SELECT 1.0", "SELECT 1.00"),
    ("SELECT a - -1", "SELECT a --1"),
    ("SELECT /*+ REPARTITION(1) */ a", "SELECT a"),
    ("SELECT `a b`", "SELECT `a  b`"),
    ("SELECT $$a  b$$", "SELECT $$a b$$"),
    ("SELECT a, b", "SELECT b, a"),
    ("SELECT a <= b", "SELECT a < b"),
]


@pytest.mark.parametrize(("left", "right"), ALIKE)
def test_text_without_meaning_is_removed(left: str, right: str) -> None:
    assert sql_words(left) == sql_words(right)


@pytest.mark.parametrize(("left", "right"), APART)
def test_text_with_meaning_stays(left: str, right: str) -> None:
    assert sql_words(left) != sql_words(right)


PIECES = st.sampled_from(
    ["SELECT", "a", "Total", "'it''s  1'", '"q  q"', "`B  c`", ",", "(", ")", "1", "2.50", ".5", "=", "<=", "FROM", "t"]
)
GAPS = st.sampled_from([" ", "\n", " -- 'no'\n", " /* (`'\" */ ", "\t /* /* nested */ */ "])


@settings(max_examples=200)
@given(pieces=st.lists(PIECES, min_size=1), data=st.data())
def test_however_it_is_laid_out_the_words_are_the_same(pieces: list[str], data: st.DataObject) -> None:
    laid_out = "".join(piece + data.draw(GAPS) for piece in pieces)
    assert sql_words(laid_out) == sql_words(" ".join(pieces))


@settings(max_examples=200)
@given(pieces=st.lists(PIECES, min_size=1), data=st.data())
def test_queries_that_sqlglot_distinguishes_have_different_words(pieces: list[str], data: st.DataObject) -> None:
    other = data.draw(st.permutations(pieces))
    left, right = (" ".join(of) for of in (pieces, other))
    tokens = [[(token.token_type, token.text) for token in Spark.Tokenizer().tokenize(text)] for text in (left, right)]
    if tokens[0] != tokens[1]:
        assert sql_words(left) != sql_words(right)
