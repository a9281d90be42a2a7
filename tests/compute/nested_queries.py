"""Generated queries over nested types, in which some names are of nothing: stars, generators, lambdas, joins, CTEs.

Types are followed, so that nearly every query is one that Spark analyses, but for the names that are put in on purpose.
"""

# ruff: noqa: S608 - the queries are made up here; Spark analyses them, and nobody runs them

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

Scalar = str
"""A type that holds no other: `int`, `string`."""


@dataclass(frozen=True)
class Struct:
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class Array:
    of: Type


@dataclass(frozen=True)
class Map:
    of: Type


Type = Scalar | Struct | Array | Map
Columns = tuple[tuple[str, Type], ...]

INT, STRING, DATE = "int", "string", "date"
_ZIP = Struct((("code", INT), ("note", STRING)))
_CITY = Struct((("name", STRING), ("zip", _ZIP), ("id", INT)))
_LINE = Struct((("price", INT), ("kind", STRING), ("parts", Array(Struct((("n", INT), ("key", STRING)))))))
TABLES: dict[str, Columns] = {
    "orders": (
        ("id", INT),
        ("user_id", INT),
        ("city", _CITY),
        ("items", Array(_LINE)),
        ("m", Map(_ZIP)),
        ("js", STRING),
    ),
    "users": (("user_id", INT), ("name", STRING), ("tags", Array(STRING)), ("home", _CITY), ("props", Map(STRING))),
    "raw": (("payload", Struct((("user", _CITY), ("lines", Array(_LINE))))), ("id", INT), ("value", STRING)),
}
TIME: Columns = (("dt", DATE),)
_NOWHERE = ("zz", "nothing", "col9", "idd", "user_ids")
_FEW = 3
_OF_SEVERAL = 0.3
"""How likely a reference is one to a name that comes twice, if there is one in a query with references to nothing."""


@dataclass
class Source:
    """A FROM item: its name and its columns; `is_open` where our side cannot know all of them."""

    alias: str
    columns: Columns
    is_open: bool = False
    repeated: tuple[str, ...] = ()
    """Names that come more than once among its columns."""


@dataclass
class Made:
    """A query, its columns, and whether our side can know all of their names."""

    sql: str
    columns: Columns
    is_open: bool
    width: int = 0
    """With the columns whose names come twice."""

    repeated: tuple[str, ...] = ()


@dataclass
class Generator:
    random: Random
    wrong: float
    """How likely a reference is one to nothing."""

    has_wrong_below_open: bool = False
    """A name of nothing stands where any name may be one."""

    _number: int = field(default=0)

    def query(self, depth: int = 2) -> Made:
        """One query with CTEs before it."""
        ctes: list[str] = []
        named: dict[str, Made] = {}
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            name, made = self._name("c"), self._select(depth - 1, named)
            ctes.append(f"{name} AS ({made.sql})")
            named[name] = made
        made = self._select(depth, named)
        if self.random.random() < 0.15:
            made = self._united(made)
        clause = f"WITH {', '.join(ctes)} " if ctes else ""
        return Made(clause + made.sql, made.columns, made.is_open)

    def _united(self, first: Made) -> Made:
        if first.is_open:
            return first
        if " ORDER BY " in first.sql or len(first.columns) != first.width:
            return first
        listed = ", ".join(f"CAST(NULL AS {_sql(of)}) AS {self._name('u')}" for _, of in first.columns)
        kind = self.random.choice(["UNION ALL", "UNION ALL", "EXCEPT", "INTERSECT"])
        if kind != "UNION ALL" and any(_holds_map(of) for _, of in first.columns):
            kind = "UNION ALL"
        return Made(f"{first.sql} {kind} SELECT {listed}", first.columns, first.is_open)

    def _name(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"

    def _item(self, depth: int, named: dict[str, Made]) -> tuple[str, Source]:
        way = self.random.random()
        if named and way < 0.45:
            name = self.random.choice(sorted(named))
            alias = self.random.choice([name, self._name("t")])
            cte = named[name]
            return (name if alias == name else f"{name} AS {alias}"), Source(
                alias, cte.columns, cte.is_open, cte.repeated
            )
        if depth > 0 and way < 0.65:
            made, alias = self._select(depth - 1, named), self._name("q")
            return f"({made.sql}) {alias}", Source(alias, made.columns, made.is_open, made.repeated)
        name = self.random.choice(sorted(TABLES))
        alias = self.random.choice([name, self._name("t")])
        return (name if alias == name else f"{name} {alias}"), Source(alias, TABLES[name] + TIME)

    def _select(self, depth: int, named: dict[str, Made]) -> Made:
        text, first = self._item(depth, named)
        sources = [first]
        clause = text
        for _ in range(self.random.choice([0, 0, 0, 1])):
            text, source = self._item(depth, named)
            if any(source.alias == other.alias for other in sources):
                continue
            kind = self.random.choice(["JOIN", "LEFT JOIN", "CROSS JOIN", "FULL JOIN"])
            sources.append(source)
            on = "" if kind == "CROSS JOIN" else f" ON {self._condition(sources)}"
            clause += f" {kind} {text}{on}"
        for _ in range(self.random.choice([0, 0, 0, 1, 1])):
            made = self._lateral(sources)
            if made is not None:
                clause += made[0]
                sources.append(made[1])
        return self._list(clause, sources)

    def _list(self, clause: str, sources: list[Source]) -> Made:
        columns: list[tuple[str, Type]] = []
        listed: list[str] = []
        is_open = False
        for _ in range(self.random.randint(1, _FEW)):
            way = self.random.random()
            if way < 0.12:
                source = self.random.choice(sources)
                listed.append(f"{source.alias}.*")
                columns += [*source.columns, *((name, INT) for name in source.repeated for _ in range(2))]
                is_open = is_open or source.is_open
            elif way < 0.22 and (struct := self._of_type(sources, Struct)) is not None and "[" not in struct[0]:
                assert isinstance(struct[1], Struct)
                listed.append(f"{struct[0]}.*")
                columns += struct[1].fields
                is_open = True
            elif way < 0.34 and not any(" generator " in text for text in listed):
                made = self._generator(sources)
                if made is not None:
                    listed.append(made[0] + " /* generator */")
                    columns += made[1]
                    is_open = is_open or made[2]
            else:
                text, type_ = self._expression(sources, 2)
                name = (
                    self._name("x") if self.random.random() < 0.7 else self.random.choice(["id", "name", "code", "v"])
                )
                listed.append(f"{text} AS {name}")
                columns.append((name, type_))
        if not listed:
            listed, columns = ["1 AS one"], [("one", INT)]
        where = f" WHERE {self._condition(sources)}" if self.random.random() < 0.6 else ""
        order = ""
        if self.random.random() < 0.12 and not where:
            around = [replace(source, is_open=source.is_open or is_open) for source in sources]
            order = f" ORDER BY {self._scalar(around)[0]}"
        names = [name for name, _ in columns]
        repeated = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
        sql = f"SELECT {', '.join(listed)} FROM {clause}{where}{order}"
        return Made(sql, _unlike(columns), is_open, len(columns), repeated)

    def _lateral(self, sources: list[Source]) -> tuple[str, Source] | None:
        made = self._generator(sources)
        if made is None:
            return None
        text, columns, is_open = made
        alias = self._name("l")
        way = self.random.random()
        if way < 0.3:
            names = [self._name("g") for _ in columns]
            renamed = tuple((name, of) for name, (_, of) in zip(names, columns, strict=True))
            return f" LATERAL VIEW {text} {alias} AS {', '.join(names)}", Source(alias, renamed)
        if way < 0.6:
            return f" LATERAL VIEW OUTER {text} {alias}", Source(alias, columns, is_open)
        return f" CROSS JOIN LATERAL {text} AS {alias}", Source(alias, columns, is_open)

    def _generator(self, sources: list[Source]) -> tuple[str, Columns, bool] | None:
        """A call, its columns, and whether our side cannot know them: the type of a table's column decides."""
        way = self.random.choice(["explode", "explode", "posexplode", "inline", "json_tuple", "stack", "map"])
        if way == "stack":
            return "stack(2, 1, 'a', 2, 'b')", (("col0", INT), ("col1", STRING)), False
        wanted: object = {"json_tuple": STRING, "map": Map}.get(way, Array)
        fitting = self._of_type(sources, wanted)
        if fitting is None:
            return None
        text, of = fitting
        outer = self.random.choice(["", "", "_outer"])
        if isinstance(of, Map):
            return f"explode{outer}({text})", (("key", STRING), ("value", of.of)), True
        if isinstance(of, Array):
            return self._elements(way, outer, text, of.of)
        return f"json_tuple({text}, 'k', 'l')", (("c0", STRING), ("c1", STRING)), False

    @staticmethod
    def _elements(way: str, outer: str, text: str, of: Type) -> tuple[str, Columns, bool]:
        if way == "inline" and isinstance(of, Struct):
            return f"inline{outer}({text})", of.fields, True
        pos: Columns = (("pos", INT),) if way == "posexplode" else ()
        return f"{way.replace('inline', 'explode')}{outer}({text})", (*pos, ("col", of)), True

    def _of_type(self, sources: list[Source], wanted: object) -> tuple[str, Type] | None:
        """A reference whose type is wanted."""
        fitting = [
            path
            for path in self._paths(sources)
            if path[1] == wanted or (isinstance(wanted, type) and isinstance(path[1], wanted))
        ]
        return self.random.choice(fitting) if fitting else None

    def _paths(self, sources: list[Source]) -> list[tuple[str, Type]]:
        paths: list[tuple[str, Type]] = []
        names = [name for source in sources for name, _ in source.columns]
        is_sure = not any(source.is_open for source in sources)
        for source in sources:
            for name, of in source.columns:
                shown = [f"{source.alias}.{name}"]
                if names.count(name) == 1 and name not in [other.alias for other in sources] and is_sure:
                    shown.append(name)
                paths += _within(self.random.choice(shown), of)
        return paths

    def _scalar(self, sources: list[Source]) -> tuple[str, Type]:
        several = [f"{source.alias}.{name}" for source in sources for name in source.repeated if not source.is_open]
        if self.wrong and several and self.random.random() < _OF_SEVERAL:
            return self.random.choice(several), INT
        if self.random.random() < self.wrong:
            return self._of_nothing(sources), INT
        fitting = [path for path in self._paths(sources) if path[1] in (INT, STRING)]
        return self.random.choice(fitting) if fitting else ("1", INT)

    def _of_nothing(self, sources: list[Source]) -> str:
        """A reference to no column; where an item may have any column, it may be a field of one, too."""
        self.has_wrong_below_open |= any(source.is_open for source in sources)
        name, way = self.random.choice(_NOWHERE), self.random.random()
        if way < 0.45:
            return name
        return f"{self.random.choice(sources).alias if way < 0.8 else 'nobody'}.{name}"

    def _expression(self, sources: list[Source], depth: int) -> tuple[str, Type]:
        way = self.random.random()
        if depth and way < 0.2:
            lambda_ = self._lambda(sources)
            if lambda_ is not None:
                return lambda_
        if depth and way < 0.3:
            text, of = self._expression(sources, depth - 1)
            name = self._name("f")
            return f"named_struct('{name}', {text})", Struct(((name, of),))
        if depth and way < 0.4:
            (left, _), (right, _) = self._scalar(sources), self._scalar(sources)
            return f"concat({left}, {right})", STRING
        if depth and way < 0.46:
            inner = self._scalar(sources)
            return f"count(*) OVER (PARTITION BY {inner[0]})", INT
        if way < 0.7:
            return self._scalar(sources)
        fitting = self._paths(sources)
        return self.random.choice(fitting) if fitting else ("1", INT)

    def _lambda(self, sources: list[Source]) -> tuple[str, Type] | None:
        fitting = self._of_type(sources, Array)
        if fitting is None:
            return None
        text, of = fitting
        assert isinstance(of, Array)
        name = self.random.choice(["i", "e", "it"])
        inner = _within(name, of.of)
        body, body_type = self.random.choice(inner)
        if self.random.random() < self.wrong:
            body, body_type = self._of_nothing(sources), INT
        elif body_type in (INT, STRING) and self.random.random() < 0.3:
            body, body_type = f"concat({body}, {self._scalar(sources)[0]})", STRING
        way = self.random.random()
        if way < 0.5:
            return f"transform({text}, {name} -> {body})", Array(body_type)
        if way < 0.8:
            return f"filter({text}, {name} -> {body} IS NOT NULL)", of
        return f"exists({text}, {name} -> {body} IS NULL)", "boolean"

    def _condition(self, sources: list[Source]) -> str:
        text, _ = self._scalar(sources)
        way = self.random.random()
        if way < 0.2:
            inner_table = self.random.choice(sorted(TABLES))
            alias = self._name("s")
            is_open = any(source.is_open for source in sources)  # a name of nothing may be a column around
            inner = Source(alias, TABLES[inner_table] + TIME, is_open)
            own, _ = self._scalar([inner])
            return f"EXISTS (SELECT 1 FROM {inner_table} {alias} WHERE {own} = {text})"
        return f"{text} IS NOT NULL" if way < 0.6 else f"{text} = {self._scalar(sources)[0]}"


def _within(shown: str, of: Type, depth: int = 3) -> list[tuple[str, Type]]:
    """What can be named from a reference on: itself, its fields, its elements."""
    paths = [(shown, of)]
    if depth and isinstance(of, Struct):
        for name, inner in of.fields:
            paths += _within(f"{shown}.{name}", inner, depth - 1)
    if depth and isinstance(of, Array):
        paths += _within(f"{shown}[0]", of.of, depth - 1)
    if depth and isinstance(of, Map):
        paths += _within(f"{shown}['k']", of.of, depth - 1)
    return paths


def _unlike(columns: list[tuple[str, Type]]) -> Columns:
    """Columns whose names come once: a name that comes twice cannot be spoken of."""
    names = [name for name, _ in columns]
    return tuple((name, of) for name, of in columns if names.count(name) == 1)


def _holds_map(of: Type) -> bool:
    if isinstance(of, Map):
        return True
    if isinstance(of, Array):
        return _holds_map(of.of)
    return isinstance(of, Struct) and any(_holds_map(inner) for _, inner in of.fields)


def _sql(of: Type) -> str:
    if isinstance(of, Struct):
        return f"STRUCT<{', '.join(f'{name}: {_sql(inner)}' for name, inner in of.fields)}>"
    if isinstance(of, Array):
        return f"ARRAY<{_sql(of.of)}>"
    return f"MAP<STRING, {_sql(of.of)}>" if isinstance(of, Map) else of


def schema(name: str) -> str:
    """A table's columns as Spark declares them."""
    return ", ".join(f"{column} {_sql(of)}" for column, of in TABLES[name] + TIME)
