"""The code of a Python function: its file and the project's modules that it imports, without layout and comments.

Docstrings are kept. Modules are searched in the project's folder (with `tidemark.yaml`), as Python does for the
project. Imports from elsewhere (Spark, libraries) are not followed.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.strict_json import json_text
from tidemark.system.project_root import PROJECT_FILE
from tidemark.warehouse.query_text import QueryText

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.warehouse.python_function import PythonFunction

_MOST: Final = 1_000
"""The most modules of a function."""


def function_code(function: PythonFunction) -> dict[str, str]:
    """The code by file, with an empty name for its own file. An invalid module counts as text."""
    code = {"": _plain(function.text.text)}
    root = _project_of(function.path)
    if root is None:
        return code
    pending = list(_imported(function.text.text))
    while pending and len(code) < _MOST:
        path = _module(root, pending.pop())
        name = path.relative_to(root).as_posix() if path else ""
        if path is None or name in code:
            continue
        text = _text(path, path.stat().st_mtime_ns)
        code[name] = _plain(text)
        pending += _imported(text)
    return code


def analysed_text(function: PythonFunction) -> QueryText:
    """The key of a function's analysis: comments and layout do not count, modules of the project do."""
    return QueryText(json_text(function_code(function), sort_keys=True), function.text.file)


@lru_cache(maxsize=1024)
def _project_of(path: Path) -> Path | None:
    return next((folder for folder in path.parents if (folder / PROJECT_FILE).is_file()), None)


def _module(root: Path, name: str) -> Path | None:
    """The file of a module, or of a package, below the project's folder."""
    place = root.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@lru_cache(maxsize=1024)
def _text(path: Path, _changed_at: int) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return text


@lru_cache(maxsize=4096)
def _imported(text: str) -> tuple[str, ...]:
    """The names that may be modules in imports: `from a.b import c` may mean `a`, `a.b` and `a.b.c`."""
    return tuple(_imported_names(text))


def _imported_names(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
