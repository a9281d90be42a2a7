"""A function that a project declares: an SQL expression over its arguments, in a closed grammar.

A *macro* (`sql`) belongs to the project, and its expression replaces each call. A *UDF* (`equals`) exists in Spark's
session and Spark runs it; the expression only describes it, so that offsets can be inferred.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tidemark.errors import ParseError

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<text>'(?:[^'\\]|\\.)*')|(?P<number>\d+(?:\.\d+)?(?!\w))|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign><=>|<=|>=|<>|!=|\|\||::|[-+*/%(),<>=\[\]])",
    re.DOTALL,
)
_CALL: Final = re.compile(r"\s*\(")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
_LONGEST: Final = 2_000
_MOST_ARGUMENTS: Final = 16
_TYPES: Final = frozenset({"date", "timestamp", "string", "int", "bigint", "double", "boolean"})
_KEYWORDS: Final = _TYPES | frozenset(
    [
        "and",
        "or",
        "not",
        "in",
        "between",
        "is",
        "null",
        "true",
        "false",
        "like",
        "rlike",
        "case",
        "when",
        "then",
        "else",
        "end",
        "as",
        "cast",
        "interval",
        "distinct",
        "from",
        "year",
        "years",
        "quarter",
        "month",
        "months",
        "week",
        "weeks",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "second",
        "seconds",
    ]
)
"""Words of an expression that are not arguments."""
_REFUSED: Final = frozenset(
    [
        "select",
        "with",
        "values",
        "table",
        "exists",
        "any",
        "all",
        "some",
        "reflect",
        "java_method",
        "try_reflect",
        "transform",
        "explode",
        "posexplode",
        "inline",
        "stack",
        "rand",
        "randn",
        "random",
        "uuid",
        "shuffle",
        "now",
        "current_date",
        "current_timestamp",
        "current_user",
        "session_user",
        "version",
    ]
)
"""Calls that read tables, run code, make rows or differ between runs."""


@dataclass(frozen=True, slots=True)
class SqlFunction:
    """`expression` over `arguments`. `is_macro`: the expression runs; otherwise it only describes Spark's function."""

    name: str
    arguments: tuple[str, ...]
    expression: str
    is_macro: bool = True
    returns: str = ""

    @classmethod
    def parse(
        cls, name: str, arguments: tuple[str, ...], expression: str, *, is_macro: bool, returns: str = ""
    ) -> SqlFunction:
        """A function as declared. Raises ParseError for an invalid name, argument, type or expression."""
        for word in (name, *arguments):
            if not _NAME.fullmatch(word) or word in _KEYWORDS | _REFUSED:
                raise ParseError(
                    "no name of a function or an argument",
                    expected="small letters, digits and _, and no word of SQL",
                    found=word,
                )
        if len({*arguments}) < len(arguments) or len(arguments) > _MOST_ARGUMENTS:
            raise ParseError(f"{name}: its arguments have to differ, and be at most {_MOST_ARGUMENTS}")
        if returns and returns not in _TYPES:
            raise ParseError(f"{name}: no type", expected=f"one of {', '.join(sorted(_TYPES))}", found=returns)
        _check_expression(name, arguments, expression)
        return cls(name, arguments, expression, is_macro, returns)

    def text(self, expression: str, given: tuple[str, ...]) -> str:
        """The expression with the arguments of a call filled in."""
        by_name = dict(zip(self.arguments, given, strict=True))
        parts = [
            by_name.get(match[0].lower(), match[0])
            if match.lastgroup == "word" and not _CALL.match(expression, match.end())
            else match[0]
            for match in _TOKEN.finditer(expression)
        ]
        text = "".join(parts)
        return f"CAST({text} AS {self.returns.upper()})" if self.returns else f"({text})"


def _check_expression(name: str, arguments: tuple[str, ...], expression: str) -> None:
    """Raises ParseError for an expression outside of the closed grammar."""
    if not expression.strip() or len(expression) > _LONGEST:
        raise ParseError(f"{name}: no expression", expected=f"one of at most {_LONGEST} characters")
    at = depth = 0
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None or expression.startswith(("--", "/*"), at):
            part = expression[at : at + 20]
            raise ParseError(f"{name}: no part of an expression", expected="SQL over its arguments", found=part)
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth < 0:
            break
        if match.lastgroup == "word":
            _check_word(name, arguments, match[0].lower(), is_call=bool(_CALL.match(expression, match.end())))
        at = match.end()
    if depth:
        raise ParseError(f"{name}: brackets that do not close", found=expression[:60])


def _check_word(name: str, arguments: tuple[str, ...], word: str, *, is_call: bool) -> None:
    if word in _REFUSED:
        raise ParseError(
            f"{name}: {word} may not stand in a declared function",
            expected="an expression that says the same each time, and reads no table",
            found=word,
        )
    if not is_call and word not in arguments and word not in _KEYWORDS:
        raise ParseError(
            f"{name}: neither an argument nor a word of SQL", expected=f"one of {', '.join(arguments)}", found=word
        )
