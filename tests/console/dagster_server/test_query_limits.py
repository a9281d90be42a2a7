"""Queries that ask for more than their text says; and that Dagster's own pages are far from each limit."""

from __future__ import annotations

import pytest
from dagster_graphql.schema import create_schema
from graphql import get_introspection_query, parse, validate

from tests.console.dagster_server.page_queries import page_queries
from tests.work import calls_of
from tidemark.console.dagster_server import query_limits
from tidemark.console.dagster_server.query_limits import QueryTooLargeError, check_query

_MOST_CALLS = 2_000_000
"""Of functions: less than a second's; without limits the same takes minutes."""


def _nested(levels: int, count: int) -> str:
    """`count` fields of one name at each level."""
    return "name" if not levels else " ".join([f"ofType {{{_nested(levels - 1, count)}}}"] * count)


def _fragments(count: int, selections: str) -> str:
    """Each uses the next one; `selections` says how."""
    texts = [f"fragment F{number} on T {{{selections.format(number + 1)}}}" for number in range(count)]
    return "\n".join(["{types {...F0}}", *texts, f"fragment F{count} on T {{name}}"])


LARGE = {
    "characters": "{a}" + " " * 30_000,
    "levels": "{a" * 60 + "}" * 60,
    "levels through fragments": _fragments(50, "a {{...F{}}}"),
    "aliases": "{" + " ".join(f"a{number}: version" for number in range(31)) + "}",
    "aliases through fragments": _fragments(5, "x: a {{...F{0}}} y: a {{...F{0}}}"),
    "fields of one name": "{" + "version " * 202 + "}",
    "fields of one name at places that become one": "{" + _nested(2, 15) + "}",
    "fields of one name in inline fragments": "{" + "... on T {name} " * 202 + "}",
    "selections": "{" + " ".join(f"a{number}" for number in range(3_001)) + "}",
    "selections through fragments": _fragments(12, "...F{0} ...F{0}"),
    "a fragment that uses itself": "{types {...F}} fragment F on T {...F}",
    "a fragment that uses itself one level down": "{types {...F}} fragment F on T {a {...F}}",
    "definitions": "{a}" + " ".join(f"query Q{number} {{a}}" for number in range(60)),
    "in a fragment that nobody uses": "{a} fragment F on T {" + "version " * 202 + "}",
    "in another operation": "query A {a} query B {" + "version " * 202 + "}",
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_more_than_a_limit_is_refused_at_once(text: str) -> None:
    def refused() -> None:
        with pytest.raises(QueryTooLargeError, match="more than"):
            check_query(text)

    assert calls_of(refused) < _MOST_CALLS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "no query",
        "{a" * 5_000,
        '{a(text: "' + "{" * 20_000 + '")}',
        "{...unknown}",
        "subscription S($id: ID!) {logs(id: $id) {...L}} fragment L on Log {line}",
    ],
)
def test_the_server_reports_invalid_queries_itself(text: str) -> None:
    check_query(text)


@pytest.mark.slow
def test_own_pages_need_less_than_half(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHARACTERS", "DEFINITIONS", "LEVELS", "SELECTIONS", "ALIASES", "PAIRS"):
        monkeypatch.setattr(query_limits, f"MOST_{name}", getattr(query_limits, f"MOST_{name}") // 2)
    queries = page_queries()
    assert len(queries) > 150
    for text in (*queries.values(), get_introspection_query()):
        check_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" + "version " * 200 + "}",
        "{runsOrError {" + "... on Runs {results {" + "tags {key value} " * 110 + "}}}}",
        "{" + "runsOrError {... on Runs {results {id status tags {key value}}}} " * 60 + "}",
        "{" + "runsOrError {... on Runs {results {id id id id id id}}} " * 30 + "}",
    ],
)
def test_accepted_queries_are_validated_quickly(text: str) -> None:
    """The work that the limits bound, by Dagster's schema and the library that does it."""
    check_query(text)
    schema, query = create_schema().graphql_schema, parse(text)
    assert calls_of(lambda: validate(schema, query)) < _MOST_CALLS
    assert not validate(schema, query)
