"""Names and texts in MySQL's and MariaDB's SQL text; values are bound where a statement can bind them."""


def quote(identifier: str) -> str:
    """An identifier in back quotes."""
    return "`" + identifier.replace("`", "``") + "`"


def text_literal(value: str) -> str:
    """A string literal, for statements that bind nothing (CREATE USER)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
