"""Names of source columns in the lake. Delta, Parquet and Spark refuse some names, and capture reserves others."""

import re
from collections.abc import Iterable
from typing import Final

MAX_CHARACTERS: Final = 64
"""The longest column name in MySQL and MariaDB."""

META_COLUMNS: Final = {"_shard": "STRING", "_event_time": "TIMESTAMP", "_offset": "BIGINT"}
"""The columns that capture adds to every table: name -> type."""

# Also names that a merge, a stored late change and a change data feed use for their own columns.
_RESERVED: Final = frozenset(META_COLUMNS) | {
    "_batch",
    "_op",
    "_late",
    "_bad",
    "_last",
    "_row",
    "_event_ms",
    "_tagged_ms",
    "_no_before",
    "_partition_before",
    "_partition_after",
    "_metadata",
    "_change_type",
    "_commit_version",
    "_commit_timestamp",
}
_REFUSED: Final = re.compile(r"[\x00-\x20\x7f,;{}()=.`'\"\\$]")


class ColumnNamesError(ValueError):
    """Names that cannot be columns of one table. `str()` gives the reason."""


def lake_name(source: str) -> str:
    """The column's name in the lake.

    A character that Delta or SQL refuses becomes `_` (`first name` -> `first_name`). A name that capture reserves gets
    the prefix `source` (`_shard` -> `source_shard`). Raises ColumnNamesError for a name that no database accepts.
    """
    if not 0 < len(source) <= MAX_CHARACTERS:
        raise ColumnNamesError(f"a column name of {len(source)} characters, not of 1 to {MAX_CHARACTERS}")
    name = _REFUSED.sub("_", source)
    return f"source{name}" if name.lower() in _RESERVED else name


def check_distinct(names: Iterable[tuple[str, str]]) -> None:
    """Raise ColumnNamesError if two of (source name, lake name) are one column for Spark, which ignores case."""
    seen: dict[str, str] = {}
    for source, lake in names:
        other = seen.setdefault(lake.lower(), source)
        if other != source:
            raise ColumnNamesError(f"{other!r} and {source!r}, which are one column of the lake")
