"""Finds the line of a problem between entities. It is looked up only when a person reads the problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.entity.yaml_document import Document, Path, read_document
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterator


def put_line(problem: EntityError, text: str) -> None:
    """Adds the line to `problem.where`, if the file's text still contains the problem's word."""
    if problem.word is None or problem.where is None:
        return
    try:
        document = read_document(text, problem.where)
    except EntityError:
        return
    path = next((path for path, value in _values(document.values, ()) if value == problem.word), ())
    problem.where = f"{problem.where}:{Document(None, document.lines).line(path)}"


def _values(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Dependencies first: a word that is also elsewhere is most likely meant there."""
    if isinstance(value, dict):
        for key in sorted(value, key=lambda key: key not in ("depends_on", "states")):
            yield from _values(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, (*path, index))
    else:
        yield path, value
