"""Which physical table a message is of, without reading all of it: most messages go through here once a change."""

import json
import re
from typing import Any, Final

# In Debezium's messages; inside of a text value the quotes would have backslashes before them.
_SOURCE: Final = re.compile(rb'"source":\{[^{}]*?"db":"([^"\\]*)"[^{}]*?"table":"([^"\\]*)"')


def physical_of(value: bytes) -> str | None:
    """`school.orders_0`; None for a message that is of no table, or none that Debezium or Canal wrote."""
    found = _SOURCE.search(value)
    if found:
        return f"{found[1].decode()}.{found[2].decode()}"
    try:
        message = json.loads(value)
    except ValueError:
        return None
    return _named(message) if isinstance(message, dict) else None


def _named(message: dict[str, Any]) -> str | None:
    source = message.get("source")
    if isinstance(source, dict):
        database, table = source.get("db"), source.get("table")
    else:
        database, table = message.get("database"), message.get("table")
    return f"{database}.{table}" if isinstance(database, str) and isinstance(table, str) else None
