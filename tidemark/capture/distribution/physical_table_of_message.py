"""Finds the physical table of a message without parsing all of it, because every change passes here once.

Both ways look for keys between JSON's own quotes. Inside a text value the quotes would have backslashes before them. If
a search fails, because of spaces or odd names, the message is parsed as JSON.
"""

import json
from typing import Final

_SOURCE: Final = b'"source":{'
_DATABASE: Final = b'"db":"'
_TABLE: Final = b'"table":"'
# Canal sorts its fields, and a row's values are texts. So a row has no array before such a key, and no number after it.
_CANALS_DATABASE: Final = b'],"database":"'
_CANALS_NEXT: Final = b'","ts":'


def physical_of(value: bytes) -> str | None:
    """The table, such as `school.orders_0`.

    Empty for a message without a table, None for a message that neither Debezium nor Canal wrote. A statement about
    several tables has their names with commas: `school.orders_0,orders_1`.
    """
    names = _debeziums(value) or _canals(value)
    if names is None or b"\\" in names:
        return _parse(value)
    try:
        return names.decode()
    except UnicodeDecodeError:
        return None


def _debeziums(value: bytes) -> bytes | None:
    start = value.find(_SOURCE)
    if start < 0:
        return None
    end = value.find(b"}", start)
    database, table = value.find(_DATABASE, start, end), value.find(_TABLE, start, end)
    if database < 0 or table < 0:
        return None
    return _text(value, database + len(_DATABASE)) + b"." + _text(value, table + len(_TABLE))


def _canals(value: bytes) -> bytes | None:
    database, table = value.find(_CANALS_DATABASE), value.rfind(_TABLE)
    if database < 0 or table < 0:
        return None
    name = _text(value, table + len(_TABLE))
    after = table + len(_TABLE) + len(name)
    if not (value.startswith(_CANALS_NEXT, after) and value[after + len(_CANALS_NEXT) :][:1].isdigit()):
        return None
    return _text(value, database + len(_CANALS_DATABASE)) + b"." + name


def _text(value: bytes, start: int) -> bytes:
    """The text up to the next quote. If that quote is part of the text, the result ends with a backslash."""
    return value[start : value.find(b'"', start)]


def _parse(value: bytes) -> str | None:
    try:
        message = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    source = message.get("source")
    if isinstance(source, dict):
        database, table = source.get("db"), source.get("table")
    else:
        database, table = message.get("database"), message.get("table")
    return f"{database}.{table}" if isinstance(database, str) and isinstance(table, str) else ""
