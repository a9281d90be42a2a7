"""Names of source columns as names of the lake: Delta, Parquet and Spark refuse some, and some are capture's own."""

import re
from collections.abc import Iterable
from typing import Final

MAX_CHARACTERS: Final = 64
"""Of a column's name in MySQL and MariaDB."""

META_COLUMNS: Final = {"_shard": "STRING", "_event_time": "TIMESTAMP", "_offset": "BIGINT"}
"""What capture adds to every table: name -> type."""

# Beside those what a merge, a kept late change and a change data feed call their own columns.
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
    """Names that cannot be columns of one table. `str()` says which."""


def lake_name(source: str) -> str:
    """The column's name in the lake.

    A character that Delta or SQL refuses becomes `_` (`first name` -> `first_name`); in front of a name that is
    capture's own stands `source` (`_shard` -> `source_shard`). Raises ColumnNamesError for what no database accepts.
    """
    if not 0 < len(source) <= MAX_CHARACTERS:
        raise ColumnNamesError(f"a column name of {len(source)} characters, not of 1 to {MAX_CHARACTERS}")
    name = _REFUSED.sub("_", source)
    return f"source{name}" if name.lower() in _RESERVED else name


def check_distinct(names: Iterable[tuple[str, str]]) -> None:
    """Raises ColumnNamesError where two of (source name, lake name) are one column to Spark, which ignores case."""
    seen: dict[str, str] = {}
    for source, lake in names:
        other = seen.setdefault(lake.lower(), source)
        if other != source:
            raise ColumnNamesError(f"{other!r} and {source!r}, which are one column of the lake")
