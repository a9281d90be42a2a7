"""Views: queries that are not tables. A query that names a view contains its text, as with dbt's ephemeral models.

Spark gets views as tables of WITH. Inference follows them, with places in the view's own file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.sql_text import code_and_names_of, code_of, on_one_line, words
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SqlView:
    """`runs` is its SELECT for Spark, `means` the text for inference; `names` as in a query."""

    name: str
    file: str
    runs: str
    means: str
    names: tuple[int, ...] = ()


def used_views(text: str, views: Mapping[str, SqlView]) -> list[SqlView]:
    """The views that a text names, directly or through views, each after the views that it names. Raises QueryError.

    A column or alias with a view's name counts as well, which does no harm.
    """
    ordered: dict[str, SqlView] = {}
    for name in _named(text, views):
        _add(name, views, ordered, ())
    return list(ordered.values())


def _add(name: str, views: Mapping[str, SqlView], ordered: dict[str, SqlView], around: tuple[str, ...]) -> None:
    if name in ordered:
        return
    view = views[name]
    if name in around:
        way = " -> ".join((*around[around.index(name) :], name))
        raise QueryError("a view that reads itself", found=way, where=f"{view.file}:1:1")
    for other in _named(view.runs, views):
        _add(other, views, ordered, (*around, name))
    ordered[name] = view


def _named(text: str, views: Mapping[str, SqlView]) -> Iterator[str]:
    if views:
        present = {word.lower() for word in _WORD.findall(code_and_names_of(text))}
        yield from (name for name in views if name in present)


def with_views(text: str, used: list[SqlView], file: str) -> str:
    """The text with views as its first tables of WITH, on the line where it begins. Raises QueryError."""
    if not used:
        return text
    first = next(words(code_of(text), 0, len(text)), None)
    if first is None:
        return text
    for view in used:
        if re.search(rf"\b{view.name}\b`?\s*(?:\([\w\s,`]*\)\s*)?AS\s*\(", code_and_names_of(text), re.IGNORECASE):
            raise QueryError(
                f"both a table of WITH and a view are named {view.name}", where=f"{file}:1:1", hint="rename one of them"
            )
    definitions = ", ".join(f"{view.name} AS ({on_one_line(view.runs)})" for view in used)
    if first.text != "WITH":
        return f"{text[: first.start]}WITH {definitions} {text[first.start :]}"
    at = first.end
    following = next(words(code_of(text), at, len(text)), None)
    if following is not None and following.text == "RECURSIVE":
        at = following.end
    return f"{text[:at]} {definitions},{text[at:]}"
