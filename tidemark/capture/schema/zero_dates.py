"""`0000-00-00`, which a server that is not strict keeps for a date: NULL in the lake, as there is no such day.

Canal prints it. Debezium sends NULL for it where the column may be NULL; where it may not, 1970-01-01, which no
TIMESTAMP can be (they begin a second later), and every DATE or DATETIME may: for those preflight warns.
"""

from typing import Final

_DATES: Final = frozenset({"DATE", "DATETIME", "TIMESTAMP"})
_EPOCH: Final = "1970-01-01T00:00:00Z"


def printed_date(word: str, column: str) -> str:
    """SQL of a `column` as the server prints it, of the source's type `word`, with NULL for a zero date."""
    return f"IF(startswith({column}, '0000-00-00'), NULL, {column})" if word in _DATES else column


def sent_date(word: str, column: str) -> str:
    """The same of a `column` in Debezium's form."""
    return f"NULLIF({column}, '{_EPOCH}')" if word == "TIMESTAMP" else column
