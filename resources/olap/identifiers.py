"""The one place where a table's or column's name becomes SQL text; values never do, they are bound."""

from __future__ import annotations

from typing import Final, Literal

from resources.olap.errors import OlapIdentifierError

Dialect = Literal["duckdb", "postgresql"]

# PostgreSQL cuts longer names short *silently*, so that two columns could become one.
_MAX_BYTES: Final[dict[Dialect, int]] = {"duckdb": 255, "postgresql": 63}


def quote(name: str, dialect: Dialect) -> str:
    """`name` as a quoted identifier.

    Raises OlapIdentifierError for a name that the store cannot hold: empty, with a NUL, or longer than its limit.
    """
    limit = _MAX_BYTES[dialect]
    if not name or "\0" in name or len(name.encode()) > limit:
        raise OlapIdentifierError(name, dialect, limit)
    return '"' + name.replace('"', '""') + '"'
