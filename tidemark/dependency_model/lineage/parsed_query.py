"""A query's text, parsed once, and the place of each part."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.dependency_model.lineage.bound_expression import Place
from tidemark.dependency_model.lineage.deep_stack import with_deep_stack
from tidemark.dependency_model.lineage.foreign_sql.placeholder import Placeholder, placeholders
from tidemark.dependency_model.lineage.spark_dialect import SparkDialect
from tidemark.dependency_model.lineage.sql_text import code_of, place_at, without_continued_comments
from tidemark.errors import QueryError

SIZE_LIMIT = 256 * 1024
_SHOWN = 80
"""The most characters of an expression in a message."""
_PARAMETER = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")
_TRIED = re.compile(r"\btry_cast\s*\(\s*(?:\w+\s*\.\s*)?$", re.IGNORECASE)
_OPENING = re.compile(r"\s*\(")


@dataclass(frozen=True, slots=True)
class Query:
    """`first_line` is the line of its file where the text begins; `tree` is sqlglot's."""

    text: str
    file: str
    tree: exp.Expr = field(compare=False, repr=False)
    first_line: int = 1

    def where(self, place: Place) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.first_line + place.line - 1}:{place.column}"

    def place_of(self, node: exp.Expr) -> Place:
        """The place of a part's first word."""
        starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        return self.place_at(min(starts)) if starts else Place()

    def text_of(self, node: exp.Expr) -> str:
        """A part's text in the query, with closing brackets."""
        places = [part.meta for part in node.walk() if "end" in part.meta]
        if not places:
            return node.sql("spark")
        start, end = min(place["start"] for place in places), max(place["end"] for place in places) + 1
        code = code_of(self.text)
        if isinstance(node, exp.Func) and (brackets := _OPENING.match(code, end)):  # a call has only its name's place
            end = brackets.end()
        depth = code.count("(", start, end) - code.count(")", start, end)
        while depth > 0 and end < len(code):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        return self.text[start:end]

    def place_at(self, position: int) -> Place:
        """The place of a character."""
        return place_at(self.text, position)

    def error(self, message: str, node: exp.Expr | None = None, **detail: str | None) -> QueryError:
        """An error at a part of the query."""
        place = self.place_of(node) if node is not None else Place()
        return QueryError(message, where=self.where(place), **detail)

    def error_at(self, position: int, message: str, **detail: str | None) -> QueryError:
        """An error at a character."""
        return QueryError(message, where=self.where(self.place_at(position)), **detail)

    def parameters(self) -> dict[str, Place]:
        """The named parameters, each with the place of its first mention."""
        code = code_of(self.text)
        places: dict[str, Place] = {}
        for match in _PARAMETER.finditer(code):
            places.setdefault(match[1], self.place_at(match.start()))
        return places


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A part of a query, for messages."""

    query: Query
    node: exp.Expr = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        """The text on one line."""
        text = " ".join(self.query.text_of(self.node).split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

    @property
    def where(self) -> str:
        """`file:line:column`."""
        return self.query.where(self.query.place_of(self.node))

    @property
    def is_tried(self) -> bool:
        """Whether `try_cast` casts it: the parser gives the same node for every cast."""
        starts = [part.meta["start"] for part in self.node.walk() if "start" in part.meta]
        return bool(starts and _TRIED.search(code_of(self.query.text), 0, min(starts)))


def read_query(text: str, *, file: str = "query.sql", first_line: int = 1) -> Query:
    """The one SELECT of a text in Spark's SQL. Raises QueryError with file, line and column."""
    if len(text) > SIZE_LIMIT:
        raise QueryError("query too long", expected=f"at most {SIZE_LIMIT} characters", where=file)
    for placeholder in placeholders(text):
        raise _foreign(placeholder, text, file, first_line)
    try:
        read = without_continued_comments(text)
        parsed = with_deep_stack(lambda: sqlglot.parse(read, dialect=SparkDialect), f"{file}:{first_line}:1")
    except SqlglotError as error:
        raise _unreadable(error, file, first_line) from error
    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1 or not isinstance(statements[0], (exp.Query, exp.Table)):
        what = f"{len(statements)} statements" if len(statements) != 1 else statements[0].key.upper()
        raise QueryError(
            "an entity is computed by one query",
            expected="one SELECT",
            found=what if statements else "no statement",
            where=f"{file}:{first_line}:1",
        )
    return Query(text, file, statements[0], first_line)


def _foreign(placeholder: Placeholder, text: str, file: str, first_line: int) -> QueryError:
    place, meaning = place_at(text, placeholder.start), placeholder.meaning
    return QueryError(
        f"a placeholder of {meaning.system}: {meaning.words}",
        expected=meaning.to_write(),
        found=" ".join(placeholder.text.split()),
        where=f"{file}:{first_line + place.line - 1}:{place.column}",
        hint="nothing is put into the text here: write a parameter, or let `tidemark new --query-from` do it",
    )


def _unreadable(error: SqlglotError, file: str, first_line: int) -> QueryError:
    details: list[dict[str, Any]] = getattr(error, "errors", [])
    if not details:
        return QueryError(f"this is no SQL: {str(error).splitlines()[0]}", where=f"{file}:{first_line}:1")
    first = details[0]
    line, end, word = first.get("line") or 1, first.get("col") or 1, str(first.get("highlight") or "")
    message = re.sub(r" but got <Token.*", "", str(first.get("description") or error)).rstrip(".")
    return QueryError(
        f"this is no SQL: {message[:1].lower()}{message[1:]}",
        found=repr(word) if word else None,
        where=f"{file}:{first_line + line - 1}:{max(1, end - max(len(word), 1) + 1)}",
    )
