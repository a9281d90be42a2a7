"""Names in MySQL's and MariaDB's SQL text; values are bound."""


def quoted(identifier: str) -> str:
    """An identifier in back quotes."""
    return "`" + identifier.replace("`", "``") + "`"
