"""What is code in a query, and what stands in quotes and comments: as Spark's own lexer says."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.seeds import chunks
from tidemark.dependency_model.lineage.declared_sql.expansion import Expansion
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.sql_pieces import sql_pieces
from tidemark.dependency_model.lineage.sql_text import on_one_line, without_comments
from tidemark.spark.internals import Jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARSER: Final = "org.apache.spark.sql.catalyst.parser"
_KINDS: Final = {
    "STRING_LITERAL": "s",
    "DOUBLEQUOTED_STRING": "s",
    "BACKQUOTED_IDENTIFIER": "n",
    "BEGIN_DOLLAR_QUOTED_STRING": "s",
    "DOLLAR_QUOTED_STRING_BODY": "s",
    "END_DOLLAR_QUOTED_STRING": "s",
    "SIMPLE_COMMENT": "-",
    "BRACKETED_COMMENT": "-",
}
_OURS: Final = {"string": "s", "name": "n", "comment": "-", "code": "c"}
FRAGMENTS: Final = (
    *("'", "''", '"', '""', "`", "``", "\\", "\\\\", "\\'", "\\n"),
    *("--", "\\\n", "\n", "\r", "\r\n", "/*", "*/", "/*+", "*", "/", "+", "-"),
    *("r'", 'R"', "xr'", "1r'", "_r'", "$$", "$a$", "$b$", "$", "${a}", "$1$"),
    *("x", "1", " ", "\t", "=", ":v", "a.b", "é", "(", ")", ",", "s3://", "hdfs://a-", "1e", ".5", "|>", "->", "::"),
)


def _by_character(text: str) -> str:
    """A letter for each character of the text."""
    return "".join(_OURS[piece.kind] * (piece.end - piece.start) for piece in sql_pieces(text))


def _by_spark(text: str, jvm: Jvm) -> str:
    """The same by Spark; the end of the line that ends a comment is no part of it, unless it is escaped."""
    stream = jvm("org.antlr.v4.runtime.CharStreams").fromString(text)
    lexer = jvm(f"{_PARSER}.SqlBaseLexer")(jvm(f"{_PARSER}.UpperCaseCharStream")(stream))
    lexer.removeErrorListeners()
    names, said = lexer.getVocabulary(), ["c"] * len(text)
    for token in lexer.getAllTokens():
        start, end = token.getStartIndex(), token.getStopIndex() + 1
        name = names.getSymbolicName(token.getType())
        if name == "SIMPLE_COMMENT" and not text[start:end].endswith("\\\n"):
            end = start + len(text[start:end].removesuffix("\n").removesuffix("\r"))
        said[start:end] = _KINDS.get(name, "c") * (end - start)
    return "".join(said)


@pytest.mark.spark
@settings(examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(text=st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_pieces_are_those_of_sparks_own_lexer(spark: SparkSession, text: str) -> None:
    assert _by_character(text) == _by_spark(text, Jvm(spark))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("first", chunks(1_000, 1_000))
def test_pieces_of_many_texts_are_those_of_sparks_own_lexer(spark: SparkSession, first: int) -> None:
    for seed in range(first, first + 1_000):
        random = Random(seed)
        text = "".join(random.choices(FRAGMENTS, k=random.randint(1, 20)))
        assert _by_character(text) == _by_spark(text, Jvm(spark)), f"seed {seed}: {text!r}"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a /* b /* c */ d */ e", "cc-----------------cc"),
        ("a /*+ X */ e", "cccccccccccc"),
        (r"r'C:\', 'x'", "ssssss" + "cc" + "sss"),
        ("$$it's$$ b", "ssssssss" + "cc"),
        ("`a``b` -- c\nd", "nnnnnnc----cc"),
        ("a '' b", "ccsscc"),
        ("it's", "cccc"),
    ],
)
def test_a_text_is_told_apart_character_by_character(text: str, pieces: str) -> None:
    assert _by_character(text) == pieces


def _parameters(text: str) -> set[str]:
    return {*read_query(text).parameters()}


def test_a_variable_in_a_string_behind_a_raw_string_stays() -> None:
    expansion = Expansion({}, {"region": "'eu'"})
    text = r"SELECT concat(r'C:\', a) AS p, 'see :region' AS label FROM t WHERE region = :region"
    assert expansion.runs(text, "q.sql") == text.removesuffix(":region") + "'eu'"
    assert _parameters(text) == {"region"}


def test_a_parameter_in_a_comment_within_a_comment_is_none() -> None:
    assert _parameters("SELECT a FROM t /* was: /* older */ AND hour = :hour */ WHERE dt = :biz_date") == {"biz_date"}


def test_on_one_line_quotes_stay_as_they_are() -> None:
    assert on_one_line("a -- 'b\n + 'c\n-- d' /* e */\n") == "a    + 'c\n-- d'"
    assert without_comments("a/* b */c") == "a c"
