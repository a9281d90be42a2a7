"""Names and values in ClickHouse's SQL text, where a backslash begins an escape."""

from __future__ import annotations

from datetime import date


def quote(name: str) -> str:
    """`name` as a quoted identifier."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def sql_literal(value: date | str | int) -> str:
    """A date, text or number literal; a date is compared as its text."""
    if isinstance(value, int):
        return str(value)
    text = value.isoformat() if isinstance(value, date) else value
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
