"""The queries that Dagster's own pages send, read from the pages' scripts as they are installed.

Apollo, which sends them, adds `__typename` to each selection set but the operation's own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import dagster_webserver
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    NameNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import Node

_BEGIN: Final = re.compile(r"\b(?:query|mutation|subscription|fragment) [A-Z]\w+")
_LONGEST: Final = 20_000


def page_queries() -> dict[str, str]:
    """By operation, the text that is sent: with the fragments that it uses."""
    texts = dict(_definitions())
    nodes = {name: parse(text).definitions[0] for name, text in texts.items()}
    used = {name: _uses(node) for name, node in nodes.items()}
    return {
        name: _as_sent("\n".join(texts[part] for part in _closure(name, used)))
        for name, node in nodes.items()
        if isinstance(node, OperationDefinitionNode)
    }


class _TypeNames(Visitor):
    def leave_selection_set(self, node: SelectionSetNode, _key: object, parent: Node, *_: object) -> SelectionSetNode:
        if isinstance(parent, OperationDefinitionNode):
            return node
        type_name = FieldNode(name=NameNode(value="__typename"), arguments=(), directives=())
        return SelectionSetNode(selections=(*node.selections, type_name))


def _as_sent(text: str) -> str:
    return print_ast(visit(parse(text), _TypeNames()))


def _definitions() -> Iterator[tuple[str, str]]:
    scripts = Path(dagster_webserver.__file__).parent / "webapp"
    for script in scripts.rglob("*.js"):
        content = script.read_text(encoding="utf-8", errors="replace")
        for match in _BEGIN.finditer(content):
            text = _definition(content[match.start() : match.start() + _LONGEST]).replace("\\n", "\n")
            try:
                (definition,) = parse(text).definitions
            except (GraphQLSyntaxError, ValueError):
                continue
            if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode) and definition.name:
                yield definition.name.value, text


def _definition(content: str) -> str:
    """Up to the brace that ends its selections; braces of default values stand in parentheses."""
    levels = {"{": 0, "(": 0}
    for at, character in enumerate(content):
        if character in "({":
            levels[character] += 1
        elif character in ")}":
            levels["(" if character == ")" else "{"] -= 1
        if character == "}" and levels == {"{": 0, "(": 0}:
            return content[: at + 1]
    return ""


def _uses(node: Node) -> set[str]:
    names: set[str] = set()

    class Spreads(Visitor):
        def enter_fragment_spread(self, spread: FragmentSpreadNode, *_: object) -> None:
            names.add(spread.name.value)

    visit(node, Spreads())
    return names


def _closure(name: str, used: dict[str, set[str]]) -> list[str]:
    names, pending = [], [name]
    while pending:
        part = pending.pop()
        if part not in names:
            names.append(part)
            pending += sorted(used[part])
    return names
