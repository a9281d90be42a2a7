"""Refuses GraphQL operations with run configuration or tags that belong to the operator.

Every argument of every operation is checked, with its variables and defaults. This includes questions about a
configuration (`isPipelineConfigValid`), because answers show values. Names of arguments and fields are from Dagster's
schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphql import ArgumentNode, VariableDefinitionNode, Visitor, value_from_ast_untyped, visit

from tidemark.system.run_config import check_run_config, check_run_tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode

_CONFIG: Final = "runConfigData"
_TAGS: Final = "tags"


def check_launches(document: DocumentNode, variables: Mapping[str, Any]) -> None:
    """Raise RunConfigRefusedError. Fragments are checked even if no operation uses them."""
    nodes = _Nodes()
    visit(document, nodes)
    defaults = {
        node.variable.name.value: value_from_ast_untyped(node.default_value)
        for node in nodes.variables
        if node.default_value is not None
    }
    for node in nodes.arguments:
        _check_named({node.name.value: value_from_ast_untyped(node.value, {**defaults, **variables})})


class _Nodes(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.arguments: list[ArgumentNode] = []
        self.variables: list[VariableDefinitionNode] = []

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        self.arguments.append(node)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        self.variables.append(node)


def _check_named(value: object) -> None:
    """Check everything below `value` with the name of a configuration or of tags."""
    for name, inner in _members(value):
        if name == _CONFIG:
            check_run_config(inner)
        elif name == _TAGS and isinstance(inner, list):
            check_run_tags(tag.get("key") for tag in inner if isinstance(tag, dict))


def _members(root: object) -> Iterator[tuple[str, object]]:
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from value.items()
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
