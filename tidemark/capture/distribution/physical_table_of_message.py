"""Which physical table a message is of, without reading all of it: every change goes through here once.

Both ways look for keys that stand between the quotes of JSON itself: inside of a text value there would be backslashes
before them. What they do not find - spaces, odd names - is read as JSON.
"""

import json
from typing import Final

_SOURCE: Final = b'"source":{'
_DATABASE: Final = b'"db":"'
_TABLE: Final = b'"table":"'
# Canal sorts its fields, and a row's values are texts: no row has an array before such a key, nor a number after one.
_CANALS_DATABASE: Final = b'],"database":"'
_CANALS_NEXT: Final = b'","ts":'


def physical_of(value: bytes) -> str | None:
    """`school.orders_0`; empty for a message that is of no table, None for one that Debezium or Canal did not write.

    A statement about several tables names them with commas between: `school.orders_0,orders_1`.
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
    """Up to the next quote; where that one is part of the text, a backslash is before it."""
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
