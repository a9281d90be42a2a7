"""Size limits of GraphQL queries: a short text can request any amount of work.

The expanded query is counted, because thirty short fragments that use each other twice become a billion fields. Pairs
of fields with one name in one place are counted too, because each pair is compared before the execution (1 to 10
microseconds). Dagster's own pages need less than a fifth of the pairs, and less than half of every other limit.
Sources: OWASP's GraphQL cheat sheet; the limits of graphql-armor and of Apollo's router.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    InlineFragmentNode,
    OperationDefinitionNode,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from graphql import SelectionSetNode

MOST_CHARACTERS: Final = 30_000
MOST_DEFINITIONS: Final = 60
MOST_SELECTIONS: Final = 3_000
MOST_ALIASES: Final = 30
MOST_LEVELS: Final = 40
MOST_PAIRS: Final = 20_000


class QueryTooLargeError(Exception):
    """`expected` and `found` name the limit."""

    def __init__(self, what: str, most: int) -> None:
        super().__init__(f"more than {most:,} {what}")
        self.expected, self.found = f"at most {most:,} {what}", str(self)


def check_query(text: str) -> DocumentNode | None:
    """The parsed query. Raises QueryTooLargeError.

    Returns None for an invalid query, which passes: the executor reports the error.
    """
    _check(len(text), MOST_CHARACTERS, "characters")
    try:
        document = parse(text, no_location=True)
    except GraphQLSyntaxError:
        return None
    _check(len(document.definitions), MOST_DEFINITIONS, "definitions")
    fragments = _fragments(document)
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode):
            _Expansion(fragments).follow([definition.selection_set], 1)
    return document


def _fragments(document: DocumentNode) -> Mapping[str, SelectionSetNode]:
    return {
        definition.name.value: definition.selection_set
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }


class _Expansion:
    """One definition with its fragments expanded up to the limits; this also ends recursive fragments."""

    def __init__(self, fragments: Mapping[str, SelectionSetNode]) -> None:
        self._fragments = fragments
        self._selections = self._aliases = self._pairs = 0

    def follow(self, merged: Iterable[SelectionSetNode], level: int) -> None:
        """Follow everything below selection sets in one place."""
        _check(level, MOST_LEVELS, "levels")
        below: dict[str, list[SelectionSetNode]] = defaultdict(list)
        counts: dict[str, int] = defaultdict(int)
        for field in self._fields(merged):
            name = (field.alias or field.name).value
            self._pairs += counts[name]
            counts[name] += 1
            _check(self._pairs, MOST_PAIRS, "pairs of fields with the same name at one place")
            if field.selection_set is not None:
                below[name].append(field.selection_set)
        for selection_sets in below.values():
            self.follow(selection_sets, level + 1)

    def _fields(self, merged: Iterable[SelectionSetNode]) -> Iterator[FieldNode]:
        pending = list(merged)
        while pending:
            for selection in pending.pop().selections:
                self._selections += 1
                _check(self._selections, MOST_SELECTIONS, "selections")
                if isinstance(selection, FieldNode):
                    self._aliases += selection.alias is not None
                    _check(self._aliases, MOST_ALIASES, "aliases")
                    yield selection
                elif isinstance(selection, FragmentSpreadNode):
                    pending += filter(None, [self._fragments.get(selection.name.value)])
                elif isinstance(selection, InlineFragmentNode):
                    pending.append(selection.selection_set)


def _check(count: int, most: int, what: str) -> None:
    if count > most:
        raise QueryTooLargeError(what, most)
