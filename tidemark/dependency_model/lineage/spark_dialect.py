"""Spark's SQL where sqlglot reads it differently: FROM before SELECT, TABLE as a query, and pipe operators.

sqlglot puts several operators into one SELECT, where clauses have an order of their own: a WHERE behind a LIMIT, or
before a FULL JOIN, then means something else. Here an operator goes into the SELECT before it only if it is evaluated
after all of that SELECT's clauses; otherwise that SELECT becomes a sub-query.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

_JOINED: Final = frozenset(["from_", "joins", "laterals"])
_FILTERED: Final = _JOINED | {"where"}
_LIMITED: Final = _FILTERED | {"order", "limit", "offset"}
_JOINS: Final = ("ANTI", "CROSS", "FULL", "INNER", "JOIN", "LEFT", "NATURAL", "RIGHT", "SEMI")
_SETS: Final = ("EXCEPT", "INTERSECT", "MINUS", "UNION")
PIPED: Final = "piped"
"""Marks a query before a pipe operator: its columns are still known as its tables' columns."""


def _over(query: Any, clauses: frozenset[str] = frozenset()) -> Any:
    """The SELECT itself if it is `SELECT *` with some of these clauses; otherwise a SELECT of its rows."""
    given = {name for name, value in query.args.items() if value and name not in ("expressions", "with_")}
    if isinstance(query, exp.Select) and given <= clauses and query.expressions == [exp.Star()]:
        return query
    return exp.select("*").from_(_piped(query).subquery(copy=False), copy=False)


def _piped(query: Any) -> Any:
    """The query, marked."""
    first = query
    while isinstance(first, (exp.SetOperation, exp.Subquery)):
        first = first.this
    first.meta[PIPED] = True
    return query


def _enclose(join: Any) -> None:
    """`a JOIN b JOIN c ON .. ON ..` joins `a` to what `(b JOIN c ON ..)` is."""
    if join.this.args.get("joins"):
        join.set("this", exp.Subquery(this=join.this.copy()))


class Parser(SparkParser):
    """Spark's SQL with `TABLE t` as a query and every pipe operator."""

    SUPPORTS_TABLE_QUERY = True

    PIPE_SYNTAX_TRANSFORM_PARSERS: ClassVar = {
        "AGGREGATE": lambda self, query: self._parse_pipe_syntax_aggregate(_over(query, _FILTERED)),
        "AS": lambda self, query: self._named(query),
        "DROP": lambda self, query: self._dropped(query),
        "EXTEND": lambda self, query: self._parse_pipe_syntax_extend(_over(query, _FILTERED)),
        "LIMIT": lambda self, query: self._parse_pipe_syntax_limit(_over(query, _LIMITED)),
        "OFFSET": lambda self, query: self._parse_pipe_syntax_limit(_over(query, _LIMITED)),
        "ORDER BY": lambda self, query: _over(query, _FILTERED).order_by(self._parse_order(), copy=False),
        "PIVOT": lambda self, query: self._parse_pipe_syntax_pivot(_over(query, frozenset(["from_"]))),
        "SELECT": lambda self, query: self._parse_pipe_syntax_select(_over(query, _FILTERED)),
        "SET": lambda self, query: self._assigned(query),
        "TABLESAMPLE": lambda self, query: self._sampled(query),
        "UNPIVOT": lambda self, query: self._parse_pipe_syntax_pivot(_over(query, frozenset(["from_"]))),
        "WHERE": lambda self, query: _over(query, _FILTERED).where(self._parse_where(), copy=False),
        **dict.fromkeys(_JOINS, lambda self, query: self._joined(query)),
        **dict.fromkeys(_SETS, lambda self, query: _over(self.parse_set_operation(this=query))),
    }

    def _parse_select_query(self, *arguments: Any, **named: Any) -> Any:
        """The joins of `FROM a JOIN b SELECT ..` are the joins of the SELECT, as of `SELECT .. FROM a JOIN b`."""
        query: Any = super()._parse_select_query(*arguments, **named)
        first = query.args.get("from_") if isinstance(query, exp.Select) else None
        if first is not None and (joins := first.this.args.get("joins")):
            first.this.set("joins", None)
            query.set("joins", [*joins, *(query.args.get("joins") or ())])
        for join in query.args.get("joins") or () if first is not None else ():
            _enclose(join)
        return query

    def _parse_pipe_syntax_query(self, query: Any) -> Any:
        is_bare = isinstance(query, exp.Subquery) and not query.alias and self._match(TokenType.PIPE_GT, advance=False)
        return super()._parse_pipe_syntax_query(_piped(query) if is_bare else query)

    def _build_pipe_cte(self, query: Any, expressions: list[Any], alias_cte: Any = None) -> Any:
        """Its callers end a SELECT here."""
        del expressions, alias_cte
        return _over(query)

    def _named(self, query: Any) -> Any:
        self._advance()
        return exp.select("*").from_(query.subquery(self._parse_id_var(), copy=False), copy=False)

    def _dropped(self, query: Any) -> Any:
        self._advance()
        return self._rest_of(query, self._parse_csv(self._parse_id_var), [])

    def _assigned(self, query: Any) -> Any:
        """Each assignment sees the ones before it."""
        while True:
            self._advance()
            name: Any = self._parse_id_var()
            if name is None or not self._match(TokenType.EQ):
                self.raise_error("Expected SET column = expression")
            value: Any = self._parse_disjunction()
            query = self._rest_of(query, [name], [exp.alias_(value, name)])
            if not self._match(TokenType.COMMA, advance=False):
                return query

    def _rest_of(self, query: Any, without: list[Any], added: list[Any]) -> Any:
        star = exp.Star(except_=[exp.column(name.copy()) for name in without])
        return _over(_over(query, _FILTERED).select(star, *added, append=False, copy=False))

    def _sampled(self, query: Any) -> Any:
        query = _over(query)
        query.args["from_"].this.set("sample", self._parse_table_sample())
        return _over(query)

    def _joined(self, query: Any) -> Any:
        joined: Any = self._parse_pipe_syntax_join(_over(query, _JOINED))
        if joined is None:
            self.raise_error("Expected JOIN")
        _enclose(joined.args["joins"][-1])
        return joined


class SparkDialect(Spark):
    """sqlglot's dialect with this parser."""

    Parser = Parser
