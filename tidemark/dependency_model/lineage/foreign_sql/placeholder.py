"""The placeholders of other systems in a text, with their places and meanings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.foreign_sql import at_sign, dollar, jinja
from tidemark.dependency_model.lineage.foreign_sql.meaning import Meaning

if TYPE_CHECKING:
    from collections.abc import Iterator

_JINJA: Final = r"\{\{.{0,2000}?\}\}|\{%.{0,2000}?%\}|\{#.{0,9000}?#\}"
"""Limited in length, so that a missing end is not searched up to the end of the text for each bracket."""
_IN_STRING: Final = r"\{\{[^\n]{0,2000}?\}\}|\{%[^\n]{0,2000}?%\}"
_STRING: Final = rf"'(?:{_IN_STRING}|[^'\\]|\\.|'')*+(?:'|\Z)|\"(?:{_IN_STRING}|[^\"\\]|\\.)*+(?:\"|\Z)"
"""A string without an end goes to the end of the text: otherwise each quote would be tried again, in quadratic time."""
_DOLLAR: Final = r"\$\{[^{}\n]*\}|\$\[[^\[\]\n]*\]|(?<![\w$])\$[A-Za-z_]\w*"
_AT: Final = r"(?<![\w`@])@\{?[A-Za-z_]\w*\}?"
_TOKEN: Final = re.compile(
    rf"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<string>{_STRING})|(?P<foreign>{_JINJA}|{_DOLLAR}|{_AT})", re.DOTALL
)
_INSIDE: Final = re.compile(rf"{_IN_STRING}|{_DOLLAR}|{_AT}")
_SIGNS: Final = re.compile(r"[$@]|\{[{%#]")
_GROUP: Final = "(?<"
"""A regular expression with named groups: `${name}` in a replacement is then a group."""
_DATE_WORD: Final = re.compile(r"y|hh|HH|mi|mm|MM|dd|add_months|last_day|month_|week_|year_|this_|timestamp")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder and its first character; `string` is the literal around it, or None."""

    text: str
    start: int
    meaning: Meaning
    string: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        """The index after its last character."""
        return self.start + len(self.text)

    @property
    def is_whole_string(self) -> bool:
        """Whether its literal contains nothing else."""
        return self.string == (self.start - 1, self.end + 1)


def placeholders(text: str) -> Iterator[Placeholder]:
    """All placeholders of a text, except those in comments."""
    if not _SIGNS.search(text):
        return
    for match in _TOKEN.finditer(text):
        if match["foreign"]:
            yield Placeholder(match[0], match.start(), _meaning(match[0]) or jinja.unknown_expression())
        elif match["string"]:
            yield from _in_string(match, has_groups=_GROUP in text)


def _in_string(string: re.Match[str], *, has_groups: bool) -> Iterator[Placeholder]:
    """In a literal only certain placeholders count: `$[0]` is a path in JSON, and `{{name}}` may be data."""
    for match in _INSIDE.finditer(string.string, string.start() + 1, string.end()):
        if _is_sure(match[0], has_groups=has_groups) and (meaning := _meaning(match[0])):
            yield Placeholder(match[0], match.start(), meaning, string.span())


def _is_sure(text: str, *, has_groups: bool) -> bool:
    if text.startswith("${"):
        return not has_groups and bool(re.fullmatch(r"\$\{[A-Za-z_][\w.:+*/ -]*\}", text))
    if text.startswith("$["):
        return bool(_DATE_WORD.match(text[2:]))
    if text.startswith("$"):
        return dollar.is_known(text[1:])
    return at_sign.is_known(text.strip("@{}")) if text.startswith("@") else True


def _meaning(text: str) -> Meaning | None:
    """The meaning of a placeholder; None for an unknown expression of a template."""
    match text[:2]:
        case "{{":
            return jinja.of_expression(text[2:-2])
        case "{%":
            return jinja.of_tag(text[2:-2])
        case "{#":
            return Meaning("Jinja (dbt, Airflow)", "a comment", is_needless=True)
        case "${":
            return dollar.of_braces(text[2:-1].strip())
        case "$[":
            return dollar.of_brackets(text[2:-1].strip())
        case _:
            return at_sign.of_at(text.strip("@{}")) if text.startswith("@") else dollar.of_name(text[1:])
