"""`MODEL (name .., kind ..);` before a query of SQLMesh; here the YAML beside the query has this information."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.sql_text import code_of, leave_out, place_at, words
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODEL: Final = re.compile(r"\s*MODEL\s*\(([^;]*)\)\s*;", re.IGNORECASE)
_KIND: Final = re.compile(r"\bkind\s+\w+\s*\(", re.IGNORECASE)
_NEEDLESS: Final = frozenset(["NAME", "KIND", "TIME_COLUMN", "DIALECT"])
"""Properties that follow from the query's file and the partition."""
_INSTEAD: Final = {
    "LOOKBACK": "a slice is computed again when late rows change one of its inputs; or read the days before it, too",
    "CRON": "`period:` in the YAML says how time is cut, `earliest:` when a slice may begin",
    "START": "`start:` in the YAML, or --from",
    "END": "`end:` in the YAML",
    "OWNER": "`owner:` in the YAML",
    "TAGS": "`tags:` in the YAML",
    "DESCRIPTION": "`description:` in the YAML",
    "AUDITS": "`quality:` in the YAML",
    "GRAIN": "`quality: [{unique: [..]}]` in the YAML",
    "GRAINS": "`quality: [{unique: [..]}]` in the YAML",
    "UNIQUE_KEY": "a slice is replaced as a whole: `quality: [{unique: [..]}]` watches over the key",
    "DEPENDS_ON": "what is read follows from the query, or `depends_on:` in the YAML",
}


def without_model_header(text: str) -> tuple[str, tuple[QueryError, ...]]:
    """The text with spaces instead of the header, and a notice for each property that is left out."""
    header = _MODEL.match(code_of(text))
    if header is None:
        return text, ()
    return leave_out(text, 0, header.end()), tuple(_left_out(text, header.start(1), header.end(1)))


def _left_out(text: str, start: int, end: int) -> Iterator[QueryError]:
    for first, last in pairwise([start - 1, *_commas(text, start, end), end]):
        said = " ".join(text[first + 1 : last].split())
        name = said.partition(" ")[0].upper()
        if said and name not in _NEEDLESS:
            place = place_at(text, text.index(said.partition(" ")[0], first + 1))
            instead = _INSTEAD.get(name, "nothing here is like it")
            yield QueryError(f"{said}: left out, {instead}", where=f"MODEL:{place.line}:{place.column}")


def _commas(text: str, start: int, end: int) -> Iterator[int]:
    """The ends of properties: commas, and the brackets around the properties of `kind`."""
    code, of_kind = code_of(text), -1
    kind = _KIND.search(code, start, end)
    for word in words(code, start, end):
        if kind is not None and word.start == kind.end() - 1:
            of_kind = word.depth
            yield word.start
        elif word.text == ")" and word.depth == of_kind:
            of_kind = -1
            yield word.start
        elif word.text == "," and word.depth == of_kind + 1:
            yield word.start
