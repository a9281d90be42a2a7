"""Names inside one SELECT: FROM items, aliases of the select list, and the queries around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from tidemark.dependency_model.lineage.bound_expression import Bound, JoinSource, Opaque, Sides, field_of
from tidemark.dependency_model.lineage.relation import FoundColumn, Relation, with_source, written_name
from tidemark.dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.errors import QueryError


_FUNCTIONS_WITHOUT_BRACKETS: Final = frozenset(["user", "session_user", "current_user", "current_time", "grouping__id"])
"""Spark calls these if there is no column of the name; the parser knows `current_date` and `current_timestamp`."""


_OF_TABLE: Final = 2
"""The words of a column with its table."""

Attribute = tuple[object, str]
"""Stands for a column: equal to that of another name of the column."""

UNSURE: Final[Attribute] = (None, "")
"""Stands for a column of one of several tables with unknown columns."""


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
        return replace(match, bound=with_source(self.source, match.bound)) if match else None

    def has(self, table: str) -> bool:
        """Whether a table's name stands for the item, or for a part of it: a table that another name does not hide."""
        return table == self.alias or (
            not self.alias and (table in self.relation.members or table in self.relation.qualified)
        )

    def find_of(self, table: str, name: str) -> FoundColumn | None:
        """A column of a table that the item `has`."""
        if table == self.alias:
            return self.find(name)
        columns = self.relation.qualified.get(table)
        if columns is not None and (own := self.relation.columns.get(columns.get(name, ""))) is not None:
            return FoundColumn(with_source(self.source, own), certain=True)
        if table in self.relation.members:
            relation, source = self.relation.members[table]
            if inner := relation.find(name):
                return replace(inner, bound=with_source(self.source, with_source(source, inner.bound)))
        may_be_there = columns is not None and self.relation.is_open and name not in self.relation.columns
        return self.find(name) if may_be_there else None

    def key_of(self, table: str, name: str) -> str:
        """The key among the columns of the item that a name means."""
        return name if table == self.alias else self.relation.qualified.get(table, {}).get(name, f"{table}.{name}")

    def attribute(self, key: str) -> tuple[Attribute, list[str]]:
        """Stands for a column, equally for a column that is listed again; and the tables that it is a column of."""
        written = written_name(key)
        attribute = self, written if written not in self.relation.ambiguous else key
        if self.alias:
            return attribute, [self.alias]
        return attribute, [table for table, keys in self.relation.qualified.items() if key in keys.values()]

    def bound_of(self, key: str, table: str | None) -> Bound:
        """The column of a key of `listed`."""
        bound = self.relation.columns.get(key)
        if bound is not None:
            return with_source(self.source, bound)
        relation, source = self.relation.members[table or ""]
        return with_source(self.source, with_source(source, relation.columns[key.removeprefix(f"{table}.")]))

    def listed(self, table: str | None) -> list[str]:
        """The keys of the columns that `*` means, or `table.*`."""
        if table is None or table == self.alias:
            return list(self.relation.columns)
        known = self.relation.qualified.get(table, {})
        keys = {name: key for name, key in known.items() if key in self.relation.columns}
        if table in self.relation.members:
            names = dict.fromkeys(written_name(key) for key in self.relation.members[table][0].columns)
            return [self.key_of(table, name) for name in {**names, **keys}]
        return list(keys.values())


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """A column of USING, which column it is, and the tables that have it."""

    bound: Bound
    attribute: Attribute
    tables: list[str]


@dataclass(slots=True, eq=False)
class Scope:
    """`shared` are columns merged by USING, `merged` those that they hide, `aliases` those of the select list so far.

    `is_selected` is set in HAVING and QUALIFY, where a name may mean the select list's column or a table's.
    `named` are the aliases that the query gives, `unclear` those of several columns.
    """

    query: Query
    parent: Scope | None = None
    items: list[Item] = field(default_factory=list)
    shared: dict[str, Shared] = field(default_factory=dict)
    merged: set[tuple[Item, str]] = field(default_factory=set)
    aliases: dict[str, Bound] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
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
        bound = self._qualified(table, name, node)
        if bound is not None:
            return reduce(field_of, fields, bound)
        if (
            fields
            and self.knows_around(parts[-2])
            and (bound := self._qualified(parts[-2], parts[-1], node)) is not None
        ):
            return bound
        as_struct = self._plain(table, node)
        return None if as_struct is None else reduce(field_of, (name, *fields), as_struct)

    def starred(self, qualifier: Sequence[str]) -> str | None:
        """The item that `item.*` means, perhaps after its schema; None if the star belongs to a struct."""
        if not qualifier or self.knows(qualifier[0]) != (len(qualifier) == 1):
            is_member = len(qualifier) == 1 and any(item.has(qualifier[0]) for item in self.items)
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

    def attribute(self, node: exp.Expression) -> tuple[Attribute, list[str]]:
        """The column that a part of the select list is, and the tables that it has a name in.

        Any other part is a column of its own.
        """
        column = node.unnest()
        parts = [part.name.lower() for part in column.parts] if isinstance(column, exp.Column) else []
        *tables, name = parts or [""]
        if not tables and name in self.shared:
            return self.shared[name].attribute, self.shared[name].tables
        owners = [
            (item, table, match)
            for item in self.items
            for table in (tables or [item.alias])
            if name and len(parts) <= _OF_TABLE and item.has(table) and (match := item.find_of(table, name))
        ]
        certain = [owner for owner in owners if owner[2].certain]
        if not certain and not tables and name in self.named:
            return (self, name), []
        owners = certain or owners
        if len(owners) == 1:
            ((item, table, _),) = owners
            attribute, known_as = item.attribute(item.key_of(table, name))
            return attribute, known_as or [*tables]
        return (object(), "") if not owners else UNSURE, [item.alias for item, *_ in owners if item.alias]

    def _qualified(self, table: str, name: str, node: exp.Expression) -> Bound | None:
        items = [item for item in self.items if item.has(table)]
        matches = [match for item in items if (match := item.find_of(table, name))]
        matches = [match for match in matches if match.certain] or matches
        if sum(match.certain for match in matches) > 1 or any(match.ambiguous for match in matches):
            raise self.ambiguous(f"{table}.{name}", [], node)
        if items:
            return _one_of(matches)
        return self.parent._qualified(table, name, node) if self.parent else None  # noqa: SLF001 - the same class

    def ambiguous(self, name: str, owners: Sequence[str], node: exp.Expression) -> QueryError:
        """The error for a name of several columns, of several items or of one."""
        expected = (
            f"a table's name before it: one of {', '.join(owners)}"
            if len(owners) > 1
            else "another name for each other column"
        )
        return self.query.error("ambiguous column", node, found=name, expected=expected)

    def _plain(self, name: str, node: exp.Expression) -> Bound | None:
        bound = self._of_items(name, node)
        selected = self.aliases.get(name) if self.is_selected else None
        if bound is None or selected is None or bound == selected:
            return bound
        return Opaque((bound, selected), f"{name} is a table's column and another one of the select list")

    def _of_items(self, name: str, node: exp.Expression) -> Bound | None:
        matches = [match for item in self.items if (item, name) not in self.merged and (match := item.find(name))]
        if name in self.shared:
            matches.append(FoundColumn(self.shared[name].bound, certain=True))
        certain = [match for match in matches if match.certain]
        if len(certain) > 1 or any(match.ambiguous for match in certain):
            owners = [item.alias for item in self.items if (match := item.find(name)) and match.certain]
            raise self.ambiguous(name, owners, node)
        if certain:
            return certain[0].bound
        if name in self.unclear and not matches:
            raise self.ambiguous(name, [], node)
        if name in self.aliases:
            return self.aliases[name]
        if matches:
            return _one_of(matches)
        return self.parent._plain(name, node) if self.parent else None  # noqa: SLF001 - the same class

    def _near(self, name: str) -> str | None:
        names = {written_name(column) for item in self.items for column in item.relation.columns}
        return did_you_mean(name, names | {item.alias for item in self.items})


def _one_of(matches: Sequence[FoundColumn]) -> Bound | None:
    """The column; unknown which one if it may be one of several."""
    if len(matches) > 1:
        return Opaque(tuple(match.bound for match in matches))
    return matches[0].bound if matches else None
