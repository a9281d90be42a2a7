"""Syntax trees of the project's files: all tests of the source share them, in one process."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ONE_PROCESS: Final = pytest.mark.xdist_group("source")
"""A mark of test files that parse the whole project: each file is parsed once."""


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a Python file. It is shared: do not change it."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a shared tree, walked once."""
    return tuple(ast.walk(tree))
