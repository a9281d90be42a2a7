"""Refuses GraphQL operations with run configuration or tags that belong to the operator.

Every argument of every operation is checked, with its variables and defaults. This includes questions about a
configuration (`isPipelineConfigValid`), because answers show values. Names of arguments and fields are from Dagster's
schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphql import ArgumentNode, VariableDefinitionNode, Visitor, value_from_ast_untyped, visit

from tidemark.system.run_config import (
    MOST_CHARACTERS,
    RunConfigRefusedError,
    check_run_config,
    check_run_tags,
    values_below,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import DocumentNode

MOST_REQUEST_VALUES: Final = 300_000
"""The most values in all arguments of a request; a backfill of 100,000 partitions names each."""
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
    known, check = {**defaults, **variables}, _Check()
    for node in nodes.arguments:
        check.below({node.name.value: value_from_ast_untyped(node.value, known)})


class _Nodes(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.arguments: list[ArgumentNode] = []
        self.variables: list[VariableDefinitionNode] = []

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        self.arguments.append(node)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        self.variables.append(node)


class _Check:
    """Checks the values of one request. All arguments share the limits, because each may name the same variable."""

    def __init__(self) -> None:
        self._values = self._characters = 0

    def below(self, root: object) -> None:
        """Check everything below `root` with the name of a configuration or of tags."""
        pending = [root]
        while pending:
            value = pending.pop()
            self._count(1)
            if isinstance(value, dict):
                pending.extend(inner for name, inner in value.items() if not self._is_config(name, inner))
            elif isinstance(value, list):
                pending.extend(value)

    def _is_config(self, name: str, value: object) -> bool:
        if name == _TAGS and isinstance(value, list):
            check_run_tags(tag.get("key") for tag in value if isinstance(tag, dict))
        if name != _CONFIG:
            return False
        self._characters += len(value) if isinstance(value, str) else 0
        if self._characters > MOST_CHARACTERS:
            raise RunConfigRefusedError.of(f"more than {MOST_CHARACTERS:,} characters in all run configurations")
        self._count(sum(1 for _ in values_below(value)))
        check_run_config(value)
        return True

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MOST_REQUEST_VALUES:
            raise RunConfigRefusedError.of(f"more than {MOST_REQUEST_VALUES:,} values in all arguments")
