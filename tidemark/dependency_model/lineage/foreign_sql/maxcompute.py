"""Functions of MaxCompute that have another name in Spark, or other letters in their patterns.

`to_date('20240101', 'yyyymmdd')` is wrong in Spark without an error: there `mm` are minutes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.foreign_sql.date_pattern import spark_pattern
from tidemark.dependency_model.lineage.foreign_sql.text_edit import TextEdit
from tidemark.dependency_model.lineage.sql_text import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL: Final = re.compile(r"\b(to_date|to_char|dateadd|getdate)\s*\(", re.IGNORECASE)
_LAST: Final = re.compile(r"(?P<comma>,\s*)(['\"])(?P<text>[^'\"]*)\2\s*$")
_ADD: Final = {"dd": "date_add", "day": "date_add", "mm": "add_months", "month": "add_months", "mon": "add_months"}


def maxcompute_edits(text: str) -> Iterator[TextEdit]:
    """An edit for each name, pattern and unit with another meaning in Spark."""
    code = code_of(text)
    for call in _CALL.finditer(code):
        name, end = call[1].lower(), _closing(code, call.end())
        if name == "getdate":
            yield TextEdit(call.start(1), end + 1, "", "the clock", advice=":period_end, or another time of the slice")
            continue
        last = _LAST.search(text, call.end(), end)
        if last is None:
            continue
        yield from _date_add(call, last) if name == "dateadd" else _pattern(name, call, last)


def _date_add(call: re.Match[str], last: re.Match[str]) -> Iterator[TextEdit]:
    becomes = _ADD.get(last["text"].lower())
    if becomes is None:
        advice = "Spark's date_add, add_months or an INTERVAL"
        yield TextEdit(call.start(1), call.end(1), "", "MaxCompute's dateadd", advice=advice)
        return
    yield TextEdit(call.start(1), call.end(1), becomes, "MaxCompute's dateadd")
    yield TextEdit(last.start(), last.end(), "", "its unit")


def _pattern(name: str, call: re.Match[str], last: re.Match[str]) -> Iterator[TextEdit]:
    pattern = spark_pattern(last["text"])
    if pattern is None:
        return
    if name == "to_char":
        yield TextEdit(call.start(1), call.end(1), "date_format", "MaxCompute's to_char")
    if pattern != last["text"]:
        yield TextEdit(last.start(), last.end(), f"{last['comma']}'{pattern}'", "MaxCompute's pattern of a date")


def _closing(code: str, start: int) -> int:
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return len(code)
