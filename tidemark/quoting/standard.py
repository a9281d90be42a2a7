"""Names in the SQL text of DuckDB, PostgreSQL and SQLite; values are bound."""

from __future__ import annotations

from typing import Final, Literal

from tidemark.errors import TerminalError

Dialect = Literal["duckdb", "postgresql", "sqlite"]

# PostgreSQL cuts longer names short *silently*, so that two columns could become one.
_MAX_BYTES: Final[dict[Dialect, int]] = {"duckdb": 255, "postgresql": 63, "sqlite": 255}


class IdentifierError(TerminalError):
    """A name that the database cannot hold."""

    def __init__(self, name: str, dialect: str, limit_bytes: int) -> None:
        super().__init__(
            f"a name that {dialect} cannot hold",
            expected=f"1 to {limit_bytes} bytes without NUL",
            found=f"{name!r} ({len(name.encode())} bytes)",
            hint="rename the table or column",
        )


def quote(name: str, dialect: Dialect) -> str:
    """`name` as a quoted identifier.

    SQLite names get backticks: if a column does not exist, SQLite reads a name in double quotes as a text.

    Raises IdentifierError for a name that the store cannot have: empty, with a NUL, or longer than its limit.
    """
    limit = _MAX_BYTES[dialect]
    if not name or "\0" in name or len(name.encode()) > limit:
        raise IdentifierError(name, dialect, limit)
    if dialect == "sqlite":
        return "`" + name.replace("`", "``") + "`"
    return '"' + name.replace('"', '""') + '"'
