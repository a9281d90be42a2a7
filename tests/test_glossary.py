"""One word a concept: what docs/glossary.md says not to say is said nowhere, and names say what they hold."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT: Final = Path(__file__).resolve().parents[1]
_GLOSSARY: Final = _ROOT / "docs" / "glossary.md"
_OLD_WORDS: Final = _ROOT / "tidemark" / "state_store" / "migrations.py"
"""Migrations tell of what was stored under older words."""
_ONLY_IN_PROSE: Final = frozenset({"dead letters", "rows by"})
"""Identifiers may say them: `dead_letters` holds records of the queue, `rows_by_key` is a mapping."""
_PAGES: Final = ("README.md", "ARCHITECTURE.md", "SECURITY.md")
_SAYS_NOTHING: Final = frozenset({"one", "found", "each"})


def forbidden_phrases() -> tuple[str, ...]:
    """The left column of the glossary's last table; a cell may hold several phrases."""
    table = _GLOSSARY.read_text().partition("## Do not say")[2]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")][2:]
    return tuple(phrase.strip() for cell in cells for phrase in cell.split(","))


def sources() -> Iterator[Path]:
    for folder in ("tidemark", "warehouse_assets", "sensors", "resources", "tests", "benchmarks"):
        yield from sorted((_ROOT / folder).rglob("*.py"))


@lru_cache(maxsize=1)
def lines() -> tuple[tuple[str, str], ...]:
    """Every line of code and documents, with its file and number."""
    pages = [*(_ROOT / "docs").glob("*.md"), *(_ROOT / page for page in _PAGES)]
    return tuple(
        (f"{path.relative_to(_ROOT)}:{number}", line.strip())
        for path in (*sources(), *pages)
        if path.exists() and path not in (_GLOSSARY, _OLD_WORDS, Path(__file__).resolve())
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    )


def test_the_table_is_read() -> None:
    phrases = forbidden_phrases()
    assert {"rows of before", "nobodys"} <= set(phrases)
    assert "do not say" not in phrases


def expression_of(phrase: str) -> re.Pattern[str]:
    """The phrase in prose, and among the words of an identifier."""
    if phrase in _ONLY_IN_PROSE:
        return re.compile(rf"(?<![\w`]){re.escape(phrase)}(?!\w)", re.IGNORECASE)
    words = re.escape(phrase).replace(r"\ ", "[ _]")
    return re.compile(rf"(?<![A-Za-z0-9`]){words}(?![A-Za-z0-9])", re.IGNORECASE)


@pytest.mark.parametrize("phrase", forbidden_phrases())
def test_nobody_says_it(phrase: str) -> None:
    said = expression_of(phrase)
    places = [f"{place}: {line}" for place, line in lines() if said.search(line)]
    assert not places, "docs/glossary.md says what to say instead:\n" + "\n".join(places)


def bindings(path: Path) -> Iterator[tuple[str, int]]:
    """Every name that a module gives to a value, with its line.

    An error's parameter `found`, beside `expected`, says what it holds; so does a field of that name.
    """
    tree, is_of_errors = ast.parse(path.read_text()), path.name == "errors.py"
    fields = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg) and not (node.arg == "found" and is_of_errors):
            yield node.arg, node.lineno


def test_names_say_what_they_hold() -> None:
    places = [
        f"{path.relative_to(_ROOT)}:{line}: {name}"
        for path in sources()
        for name, line in bindings(path)
        if name in _SAYS_NOTHING
    ]
    assert not places, f"{len(places)} names say nothing:\n" + "\n".join(places)
