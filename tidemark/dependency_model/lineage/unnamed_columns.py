"""Columns of a select list to which the query gives no name."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlglot import exp

from tidemark.dependency_model.lineage.generators import made_columns

UNNAMED: Final = re.compile(r"_c\d+\(\)")
"""The binder's name of a value that Spark names by its text."""
_NAMED_BY_SPARK: Final = (exp.Func, exp.Binary, exp.Unary, exp.Case, exp.In, exp.Between, exp.Window)
"""Spark names such a value by its text, which contains brackets or spaces."""
_NAMED_BY_FIELD: Final = (exp.Cast, exp.Dot, exp.Bracket, exp.Anonymous, exp.Paren, exp.Neg)


def name_of(node: Any, place: int) -> str:
    """The name of a column, or one that no other column of the list has: with brackets if Spark's name has them."""
    return f"_c{place}()" if is_named_by_its_text(node) else node.alias_or_name.lower() or f"_c{place}"


def is_named_by_its_text(node: Any) -> bool:
    """Whether Spark names a value by its text."""
    if not isinstance(node, _NAMED_BY_SPARK) or isinstance(node, _NAMED_BY_FIELD):
        return False
    return made_columns(node) is None and not isinstance(node, (exp.Alias, exp.Query))
