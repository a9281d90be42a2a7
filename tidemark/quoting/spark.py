"""Names and values in Spark SQL text: the one place that quotes them."""

import math
from collections.abc import Collection
from datetime import date

from tidemark.strict_json import float_text
from tidemark.system.table_location import TableLocation


def quote(identifier: str) -> str:
    """An identifier in back quotes."""
    return "`" + identifier.replace("`", "``") + "`"


def path_table(path: TableLocation) -> str:
    """A Delta table by its path."""
    return f"delta.{quote(str(path))}"


def text_literal(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def sql_literal(value: date | str | int | float) -> str:  # noqa: PYI041 - mypy tells int from float by it
    """A date, text, number or BOOLEAN literal."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"DOUBLE({text_literal(str(float_text(value)))})"
    if isinstance(value, int):
        return str(value).lower()
    return f"DATE'{value.isoformat()}'" if isinstance(value, date) else text_literal(value)


def typed_literal(text: str | None, sql_type: str) -> str:
    """A literal of any type from its text form."""
    return "NULL" if text is None else f"CAST({text_literal(text)} AS {sql_type})"


def among(column: str, sql_type: str, values: Collection[str | None]) -> str:
    """`column` (quoted already) is one of `values`, given as text. Delta keeps an empty text as NULL in a partition."""
    texts = sorted(value for value in values if value)
    literals = ", ".join(typed_literal(text, sql_type) for text in texts)
    inside = [f"{column} IN ({literals})"] if texts else []
    nulls = [f"{column} IS NULL"] if len(texts) < len(values) else []
    return f"({' OR '.join(inside + nulls) or 'false'})"
