"""Replaces declared functions and variables in a query's text, without a parser.

Lines keep their numbers, so a message has the file's line. Strings and comments are not changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.sql_text import code_of, on_one_line, place_at, words
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.lineage.declared_sql.sql_function import SqlFunction

LONGEST: Final = 256 * 1024
"""The most characters of a query after replacement."""
_DEEPEST: Final = 32
_SIMPLE: Final = re.compile(r"\s*(?::?\w+(?:\.\w+)?|'[^'\\]*')\s*")
_VARIABLE: Final = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")


@dataclass(frozen=True)
class Expansion:
    """`functions` by name; `variables` have constants as text, by name. Names are in lower case."""

    functions: Mapping[str, SqlFunction] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def runs(self, text: str, file: str) -> str:
        """The text that Spark runs: Spark's own functions stay. Raises QueryError."""
        macros = {name: function for name, function in self.functions.items() if function.is_macro}
        return self._expanded(text, file, Expansion(macros, self.variables))

    def means(self, text: str, file: str) -> str:
        """The text for inference, in which Spark's own functions are also replaced. Raises QueryError."""
        return self._expanded(text, file, self)

    @staticmethod
    def _expanded(text: str, file: str, expansion: Expansion) -> str:
        if expansion.functions:
            text = _Calls(expansion, file).expand(text)
        return expansion.with_variables(text) if expansion.variables else text

    def with_variables(self, text: str) -> str:
        """The text with constants instead of variables."""
        parts, at = [], 0
        for match in _VARIABLE.finditer(code_of(text)):
            if match[1].lower() in self.variables:
                parts += [text[at : match.start()], self.variables[match[1].lower()]]
                at = match.end()
        return "".join([*parts, text[at:]])

    @cached_property
    def call(self) -> re.Pattern[str]:
        """The pattern of the beginning of a call."""
        names = "|".join(sorted(self.functions, key=len, reverse=True))
        return re.compile(rf"(?<![\w.:`$@])({names})\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Calls:
    """Replaces calls by expressions."""

    expansion: Expansion
    file: str

    def expand(self, text: str) -> str:
        """The text without calls of declared functions. Raises QueryError with the place of the outermost call."""
        code, parts, at = code_of(text), list[str](), 0
        for match in self.expansion.call.finditer(code):
            if match.start() < at:
                continue
            try:
                end, becomes = self._called(text, code, match, ())
            except QueryError as error:
                place = place_at(text, match.start())
                error.where = f"{self.file}:{place.line}:{place.column}"
                raise
            lines = text.count("\n", match.start(), end) - becomes.count("\n")
            parts += [text[at : match.start()], becomes, "\n" * lines]
            at = end
        return "".join([*parts, text[at:]])

    def _nested(self, text: str, around: tuple[str, ...]) -> str:
        code, parts, at = code_of(text), list[str](), 0
        for match in self.expansion.call.finditer(code):
            if match.start() >= at:
                end, becomes = self._called(text, code, match, around)
                parts += [text[at : match.start()], becomes]
                at = end
        return "".join([*parts, text[at:]])

    def _called(self, text: str, code: str, match: re.Match[str], around: tuple[str, ...]) -> tuple[int, str]:
        """The end of a call, and its replacement."""
        function = self.expansion.functions[match[1].lower()]
        if function.name in around or len(around) >= _DEEPEST:
            raise QueryError("a function that calls itself", found=" -> ".join((*around, function.name)))
        end, spans = _arguments(code, match.end(), function.name)
        if len(spans) != len(function.arguments):
            raise QueryError(
                f"{function.name} is called with other arguments than it has",
                expected=f"{function.name}({', '.join(function.arguments)})",
                found=" ".join(text[match.start() : end].split())[:80],
            )
        given = tuple(_bracketed(self._nested(on_one_line(text[start:stop]), around)) for start, stop in spans)
        becomes = function.text(self._nested(function.expression, (*around, function.name)), given)
        if len(becomes) > LONGEST:
            raise QueryError("query too long", expected=f"at most {LONGEST} characters with its functions put in")
        return end, becomes


def _arguments(code: str, start: int, name: str) -> tuple[int, list[tuple[int, int]]]:
    """The index after the closing bracket of a call, and the range of each argument."""
    spans, begin = [], start
    for word in words(code, start, len(code)):
        if word.text == "," and word.depth == 0:
            spans.append((begin, word.start))
            begin = word.end
        elif word.text == ")" and word.depth < 0:
            is_empty = not spans and not code[begin : word.start].strip() and begin == start
            return word.end, [] if is_empty else [*spans, (begin, word.start)]
    raise QueryError(f"the brackets of {name} do not close", expected=")")


def _bracketed(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"
