"""The errors that the product can raise, as its source writes them."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tidemark
from tests.parsed import nodes_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FOLDER: Final = Path(tidemark.__file__).parent


def error_classes() -> Mapping[str, str]:
    """Each class below `TidemarkError`, with the first paragraph of its docstring."""
    classes = {node.name: node for node in _nodes() if isinstance(node, ast.ClassDef)}
    return {name: _first_paragraph(node) for name, node in classes.items() if _is_error(node, classes)}


def messages() -> Mapping[str, list[tuple[str, str]]]:
    """Messages and their hints by class, as far as the source has them as literals; `…` stands for a value."""
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for node in _nodes():
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Errors")):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and _called(inner) in ("cls", "__init__"):
                    found[node.name] |= _message(inner)
        elif isinstance(node, ast.Call) and _called(node).endswith("Error"):
            found[_called(node)] |= _message(node)
    return defaultdict(list, {name: sorted(_with_hints(of_class)) for name, of_class in found.items()})


def _with_hints(written: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without a message that elsewhere has a hint."""
    helped = {message for message, hint in written if hint}
    return {(message, hint) for message, hint in written if hint or message not in helped}


def _nodes() -> Iterator[ast.AST]:
    for file in sorted(_FOLDER.rglob("*.py")):
        yield from nodes_of(tree_of(file))


def _is_error(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> bool:
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    return "TidemarkError" in bases or any(name in classes and _is_error(classes[name], classes) for name in bases)


def _first_paragraph(node: ast.ClassDef) -> str:
    return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _message(call: ast.Call) -> set[tuple[str, str]]:
    words = _words(call.args[0]) if call.args else ""
    hint = next((_words(keyword.value) for keyword in call.keywords if keyword.arg == "hint"), "")
    return {(words, hint)} if words.strip("… ") else set()


def _words(node: ast.expr) -> str:
    """The text of a literal; empty for another expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.JoinedStr):
        return " ".join(
            "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values).split()
        )
    return ""
