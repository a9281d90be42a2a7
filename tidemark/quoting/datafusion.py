"""Names and values in the SQL text of DataFusion, by which delta-rs reads a table; it binds no values."""

from __future__ import annotations

from datetime import date


def quote(name: str) -> str:
    """`name` as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def sql_literal(value: date | str | int) -> str:
    """A date, text or number literal; a backslash in a text is one."""
    if isinstance(value, int):
        return str(value)
    return f"DATE '{value.isoformat()}'" if isinstance(value, date) else "'" + value.replace("'", "''") + "'"
