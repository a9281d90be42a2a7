"""`0000-00-00`, which a server that is not strict stores as a date. It is NULL in the lake.

Canal prints it. Debezium sends NULL for it if the column is nullable, else 1970-01-01. No TIMESTAMP can be that,
because they begin a second later, but any DATE or DATETIME can; preflight warns about them.
"""

from typing import Final

_DATES: Final = frozenset({"DATE", "DATETIME", "TIMESTAMP"})
_EPOCH: Final = "1970-01-01T00:00:00Z"


def printed_date(word: str, column: str) -> str:
    """SQL of a `column` of printed values of the source's type `word`, with NULL for a zero date."""
    return f"IF(startswith({column}, '0000-00-00'), NULL, {column})" if word in _DATES else column


def sent_date(word: str, column: str) -> str:
    """The same for a `column` in Debezium's form."""
    return f"NULLIF({column}, '{_EPOCH}')" if word == "TIMESTAMP" else column
