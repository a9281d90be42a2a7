"""Names inside one SELECT: FROM items, aliases of the select list, and the queries around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.lineage.bound_expression import Bound, JoinSource, Opaque, Sides, field_of
from tidemark.dependency_model.lineage.relation import FoundColumn, Relation, with_source
from tidemark.dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot import exp

    from tidemark.dependency_model.lineage.parsed_query import Query


_FUNCTIONS_WITHOUT_BRACKETS: Final = frozenset(["user", "session_user", "current_user", "current_time", "grouping__id"])
"""Spark calls these if there is no column of the name; the parser knows `current_date` and `current_timestamp`."""


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A common table expression (CTE): its query, the names that it sees, and its column names if it lists them."""

    node: Any
    names: Mapping[str, CommonTable]
    columns: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Item:
    """One FROM item. `source` is None in a SELECT without outer joins, which never makes up a row."""

    alias: str
    relation: Relation
    source: JoinSource | None

    def find(self, name: str) -> FoundColumn | None:
        """A column of the item, as the SELECT sees it."""
        match = self.relation.find(name)
        return FoundColumn(with_source(self.source, match.bound), certain=match.certain) if match else None


@dataclass(slots=True, eq=False)
class Scope:
    """`shared` are columns merged by USING, `aliases` those of the select list so far.

    `is_selected` is set in HAVING and QUALIFY, where a name may mean the select list's column or a table's.
    """

    query: Query
    parent: Scope | None = None
    items: list[Item] = field(default_factory=list)
    shared: dict[str, Bound] = field(default_factory=dict)
    aliases: dict[str, Bound] = field(default_factory=dict)
    sides: dict[object, object] = field(default_factory=dict)
    is_selected: bool = False

    def all_sides(self) -> Sides:
        """The sides known here and in the queries around."""
        around = dict(self.parent.all_sides()) if self.parent else {}
        return {**around, **self.sides}  # type: ignore[dict-item]

    def column(self, node: exp.Column) -> Bound:
        """The column of a reference. Raises QueryError if there is none, or more than one."""
        parts = [part.name.lower() for part in node.parts]
        bound = self._plain(parts[0], node) if len(parts) == 1 else self._of_parts(parts, node)
        if bound is not None:
            return bound
        if parts[0] in _FUNCTIONS_WITHOUT_BRACKETS and len(parts) == 1:
            return Opaque()
        raise self.query.error("no such column", node, found=node.sql("spark"), hint=self._near(parts[-2:][0]))

    def _of_parts(self, parts: Sequence[str], node: exp.Expression) -> Bound | None:
        """A table's column, perhaps after its schema, or the fields of a struct: in this order."""
        table, name, *fields = parts
        bound = self._qualified(table, name)
        if bound is not None:
            return reduce(field_of, fields, bound)
        if fields and self.knows_around(parts[-2]) and (bound := self._qualified(*parts[-2:])) is not None:
            return bound
        as_struct = self._plain(table, node)
        return None if as_struct is None else reduce(field_of, (name, *fields), as_struct)

    def starred(self, qualifier: Sequence[str]) -> str | None:
        """The item that `item.*` means, perhaps after its schema; None if the star belongs to a struct."""
        if not qualifier or self.knows(qualifier[0]) != (len(qualifier) == 1):
            is_member = len(qualifier) == 1 and any(qualifier[0] in item.relation.members for item in self.items)
            return qualifier[0] if is_member else None
        return qualifier[-1] if self.knows(qualifier[-1]) else None

    def struct(self, qualifier: Sequence[str], node: exp.Expression) -> Bound:
        """The struct whose fields become columns by `qualifier.*`. Raises QueryError if there is none."""
        bound = self._plain(qualifier[0], node) if len(qualifier) == 1 else self._of_parts(qualifier, node)
        if bound is None:
            text = ".".join((*qualifier, "*"))
            raise self.query.error("no such table or column", node, found=text, hint=self._near(qualifier[0]))
        return bound

    def knows_around(self, name: str) -> bool:
        """Whether a name is an item here or in a query around."""
        return self.knows(name) or (self.parent is not None and self.parent.knows_around(name))

    def knows(self, name: str) -> bool:
        """Whether a name is an item here."""
        return any(item.alias == name for item in self.items)

    def _qualified(self, table: str, name: str) -> Bound | None:
        for item in self.items:
            if item.alias == table:
                match = item.find(name)
                return match.bound if match else None
            if table in item.relation.members:
                relation, source = item.relation.members[table]
                inner = relation.find(name)
                return with_source(item.source, with_source(source, inner.bound)) if inner else None
        return self.parent._qualified(table, name) if self.parent else None  # noqa: SLF001 - the same class

    def _plain(self, name: str, node: exp.Expression) -> Bound | None:
        bound = self._of_items(name, node)
        selected = self.aliases.get(name) if self.is_selected else None
        if bound is None or selected is None or bound == selected:
            return bound
        return Opaque((bound, selected), f"{name} is a table's column and another one of the select list")

    def _of_items(self, name: str, node: exp.Expression) -> Bound | None:
        if name in self.shared:
            return self.shared[name]
        matches = [match for item in self.items if (match := item.find(name))]
        certain = [match for match in matches if match.certain]
        if len(certain) > 1:
            owners = ", ".join(item.alias for item in self.items if (match := item.find(name)) and match.certain)
            raise self.query.error(
                "ambiguous column", node, found=name, expected=f"a table's name before it: one of {owners}"
            )
        if certain:
            return certain[0].bound
        if name in self.aliases:
            return self.aliases[name]
        if len(matches) == 1:
            return matches[0].bound
        if matches:
            return Opaque(tuple(match.bound for match in matches))
        return self.parent._plain(name, node) if self.parent else None  # noqa: SLF001 - the same class

    def _near(self, name: str) -> str | None:
        names = {column for item in self.items for column in item.relation.columns}
        return did_you_mean(name, names | {item.alias for item in self.items})
