"""Tests by their names, for tables that say which test proves what."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

_TESTS = Path(__file__).parent


@lru_cache
def named_in(path: str) -> set[str]:
    """The names of a file's tests, but for those that are always left out. `path` is below `tests/`."""
    body = ast.parse((_TESTS / path).read_text()).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in functions if not any("skip" in ast.unparse(mark) for mark in node.decorator_list)}
