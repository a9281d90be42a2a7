"""Rewrites a query of another system with the project's parameters, with a line for each change or open point.

Nothing is rendered or run: a closed set of expressions is replaced, the rest stays and is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.foreign_sql.maxcompute import maxcompute_edits
from tidemark.dependency_model.lineage.foreign_sql.placeholder import Placeholder, placeholders
from tidemark.dependency_model.lineage.foreign_sql.text_edit import TextEdit, apply_edits
from tidemark.dependency_model.lineage.sql_text import code_and_names_of, place_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tidemark.dependency_model.lineage.foreign_sql.moment import Moment
    from tidemark.dependency_model.time.period import Period

_BLOCK: Final = re.compile(
    r"(?P<opening>\{%-?\s*if\s+is_incremental\(\)\s*-?%\})(?P<body>(?:(?!\{%).)*)"
    r"(?P<rest>(?:\{%-?\s*else\s*-?%\}(?:(?!\{%).)*)?\{%-?\s*endif\s*-?%\})",
    re.DOTALL,
)
_NO_BLOCK: Final = "rows newer than the table's: a slice reads those of its time, as {condition}"
_SIGN: Final = r"(?:=|==|<>|!=|<=>|<=|>=|<|>)"
_BY_CLOCK: Final = re.compile(
    r"\b(?:to_date|date|date_format|year|quarter|month|day|dayofmonth|dayofweek|weekofyear|hour|minute)\s*\(\s*\Z",
    re.IGNORECASE,
)
_NEAR: Final = 400
"""The characters before a value that are searched for its comparison."""
_NUMBER: Final = re.compile(r"y+M*d*H*m*s*")


@dataclass(frozen=True, slots=True)
class QueryOrigin:
    """The origin of a query: its system, the values that its scheduler sets, and its target.

    `dates` are the names of partition columns with dates. `day` is the column of a slice's day, with its value for the
    computed slice.
    """

    system: str
    period: Period
    parameters: Mapping[str, str]
    entities: Collection[str]
    dates: frozenset[str] = frozenset({"dt"})
    day: tuple[str, str] = ("dt", ":biz_date")


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """The query, and its edits in order."""

    text: str
    source: str
    edits: tuple[TextEdit, ...]

    @property
    def left(self) -> tuple[TextEdit, ...]:
        """The edits that a person must make."""
        return tuple(edit for edit in self.edits if edit.advice)

    def line(self, edit: TextEdit) -> int:
        """The line of an edit."""
        return place_at(self.source, edit.start).line


def rewrite(text: str, origin: QueryOrigin) -> RewrittenQuery:
    """The query with parameters for known placeholders; unknown ones stay, with a comment that says what to do."""
    edits = list(_incremental(text, *origin.day)) if origin.system == "dbt" else []
    covered = [(edit.start, edit.end) for edit in edits]
    within = [
        placeholder
        for placeholder in placeholders(text)
        if not any(start <= placeholder.start < end for start, end in covered)
    ]
    for _, group in groupby(within, key=lambda placeholder: placeholder.string or placeholder.start):
        edits.append(_edit(text, list(group), origin))
    if origin.system == "dataworks":
        edits += maxcompute_edits(text)
    ordered = tuple(sorted(edits, key=lambda edit: edit.start))
    return RewrittenQuery(apply_edits(text, ordered), text, ordered)


def _incremental(text: str, day: str, value: str) -> Iterator[TextEdit]:
    """The parts of a model that dbt only adds for an existing table."""
    for block in _BLOCK.finditer(text):
        newer = _newer(day).fullmatch(block["body"])
        if newer:
            condition = f"{newer['word']} {newer['column']} = {value}"
            yield TextEdit(block.start(), block.end(), condition, "the rows of the slice")
        elif "{{ this }}" in " ".join(block["body"].split()):
            yield TextEdit(
                block.start(), block.end(), "", block[0], advice=_NO_BLOCK.format(condition=f"{day} = {value}")
            )
        else:
            yield TextEdit(block.start("opening"), block.end("opening"), "", "a slice is computed as a new one is")
            yield TextEdit(block.start("rest"), block.end("rest"), "", "a slice is computed as a new one is")


def _edit(text: str, group: Sequence[Placeholder], origin: QueryOrigin) -> TextEdit:
    """One edit for a placeholder, or for all placeholders of one literal."""
    first = group[0]
    start, end = first.string or (first.start, first.end)
    words = first.meaning.words
    if any(_is_of_other(placeholder, origin) for placeholder in group):
        return TextEdit(
            start, end, "", words, advice=f"a placeholder of {first.meaning.system}: {first.meaning.to_write()}"
        )
    sql = _literal(text, group, origin) if first.string else _bare(text, first, origin)
    if sql is None:
        return TextEdit(start, end, "", words, advice=_advice(first, origin))
    return TextEdit(start, end, sql, words)


def _advice(placeholder: Placeholder, origin: QueryOrigin) -> str:
    tables = _tables(placeholder.meaning.table, placeholder.meaning.words, origin)
    return f"{' or '.join(tables)}: which entity is meant" if tables else placeholder.meaning.to_write(origin.period)


def _is_of_other(placeholder: Placeholder, origin: QueryOrigin) -> bool:
    system = placeholder.meaning.system.lower()
    return origin.system not in system and "jinja" not in system


def _literal(text: str, group: Sequence[Placeholder], origin: QueryOrigin) -> str | None:
    """A literal with placeholders: their value, or a concatenated text."""
    first = group[0]
    start, end = first.string or (first.start, first.end)
    if len(group) == 1 and first.is_whole_string:
        moment = _moment(first, origin)
        if moment is None:
            return _given(first, origin, quoted=True)
        return _value(text, start, end, moment, origin)
    parts, at = list[str](), start + 1
    for placeholder in group:
        moment = _moment(placeholder, origin)
        value = moment.sql(origin.period) if moment and moment.pattern else None
        if value is None:
            return None
        parts += [_quoted(text[at : placeholder.start]), value]
        at = placeholder.end
    parts.append(_quoted(text[at : end - 1]))
    return f"concat({', '.join(part for part in parts if part)})"


def _quoted(text: str) -> str:
    return f"'{text}'" if text else ""


def _bare(text: str, placeholder: Placeholder, origin: QueryOrigin) -> str | None:
    """A placeholder outside of quotes: a table, a number such as 20240101, a time of SQLMesh."""
    meaning = placeholder.meaning
    if meaning.is_needless:
        return ""
    if meaning.table:
        tables = _tables(meaning.table, meaning.words, origin)
        return None if len(tables) > 1 else (tables or [meaning.table])[0]
    moment = _moment(placeholder, origin)
    if moment is None:
        return _given(placeholder, origin, quoted=False)
    value = _value(text, placeholder.start, placeholder.end, moment, origin)
    if value is None or not value.startswith("date_format(") or origin.system == "sqlmesh":
        return value
    return f"int({value})" if _NUMBER.fullmatch(moment.pattern) else None


def _tables(name: str, words: str, origin: QueryOrigin) -> list[str]:
    """The entities that may be meant: with the table's name, alone or after its source's."""
    schema = words.rpartition(" ")[2]
    return [other for other in (name, f"{schema}_{name}") if name and other in origin.entities]


def _moment(placeholder: Placeholder, origin: QueryOrigin) -> Moment | None:
    """Its time; for a parameter, the time of the placeholder that it is set to."""
    value = origin.parameters.get(placeholder.meaning.parameter)
    if value is None:
        return placeholder.meaning.moment
    inner = [given for given in placeholders(value) if given.text == value]
    return inner[0].meaning.moment if inner else None


def _given(placeholder: Placeholder, origin: QueryOrigin, *, quoted: bool) -> str | None:
    """The value of a parameter that is not a time: an expression, or a constant."""
    value = origin.parameters.get(placeholder.meaning.parameter)
    if value is None or any(True for _ in placeholders(value)):
        return None
    is_expression = value.startswith(":") or "(" in value
    return value if is_expression or not quoted else f"'{value.replace(chr(39), chr(39) * 2)}'"


def _value(text: str, start: int, end: int, moment: Moment, origin: QueryOrigin) -> str | None:
    """A DATE if a date column is compared with a day, else a text or time as in the original.

    A time from which a function reads date or hour is on the project's clock.
    """
    is_day = "dd" in moment.pattern and moment.pattern.replace("-", "") == "yyyyMMdd"
    if is_day and _is_compared_with(origin.dates, code_and_names_of(text), start, end):
        return moment.date(origin.period)
    if not moment.pattern and _BY_CLOCK.search(code_and_names_of(text), max(0, start - _NEAR), start):
        return moment.on_clock(origin.period)
    return moment.sql(origin.period)


def _is_compared_with(columns: frozenset[str], code: str, start: int, end: int) -> bool:
    """Whether the text at a place is compared with one of these columns."""
    before, after = _comparisons(columns)
    return bool(before.search(code, max(0, start - _NEAR), start) or after.match(code, end))


@lru_cache(maxsize=16)
def _comparisons(columns: frozenset[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the text before and after a value that is compared with one of the columns."""
    column = _column("|".join(map(re.escape, sorted(columns))) or "(?!)")
    before = (
        rf"\b{column}\s*(?:{_SIGN}|(?:NOT\s+)?BETWEEN(?:\s+[\w.:]*(?:\((?:[^()]|\([^()]*\))*\))?\s*AND)?"
        r"|(?:NOT\s+)?IN\s*\([^()]*)\s*$"
    )
    return re.compile(before, re.IGNORECASE), re.compile(rf"\s*{_SIGN}\s*{column}\b", re.IGNORECASE)


@lru_cache(maxsize=16)
def _newer(day: str) -> re.Pattern[str]:
    """Pattern of a condition for rows newer than those of dbt's own table."""
    return re.compile(
        rf"\s*(?P<word>WHERE|AND)\s+(?P<column>{_column(day)})\s*>=?\s*\(\s*SELECT\s+(?:COALESCE\(\s*)?"
        rf"MAX\(\s*`?{day}`?\s*\)[^()]*\)?\s*FROM\s+\{{\{{\s*this\s*\}}\}}\s*\)\s*",
        re.IGNORECASE,
    )


def _column(names: str) -> str:
    return rf"(?:\w+\s*\.\s*)?`?(?:{names})`?"
