"""Decides whether a column's new declaration keeps all values, in any sql_mode, by a closed list.

A server that is not strict cuts, rounds or replaces values without row events, and a record does not show whether the
session was strict. So the list has only conversions that change no value of the old declaration.
"""

from typing import Final

from tidemark.capture.schema.column_form import UNKNOWN_CHARSET, ColumnForm
from tidemark.capture.schema.source_types import INTEGERS, SourceType

_BYTES: Final = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}
_TEXT_BYTES: Final = {"TINYTEXT": 2**8, "TEXT": 2**16, "MEDIUMTEXT": 2**24, "LONGTEXT": 2**32}
_BLOB_BYTES: Final = {"TINYBLOB": 2**8, "BLOB": 2**16, "MEDIUMBLOB": 2**24, "LONGBLOB": 2**32}
_WIDEST_CHARACTER: Final = 4
_CHARSETS: Final = frozenset({"ascii", "latin1", "utf8", "utf8mb3", "utf8mb4"})
"""The character sets whose characters are all in utf8mb4."""
_CHARACTERS: Final = frozenset({"CHAR", "VARCHAR", "ENUM", "SET", *_TEXT_BYTES})


def keeps_values(old: ColumnForm, new: ColumnForm) -> bool:
    """Whether each value of `old` is the same value in `new`."""
    if new.may_be_null is not True and old.may_be_null is not False:
        return False
    if new.counts_up and not old.counts_up:
        return False
    return _keeps_characters(old, new) and _holds(old, new)


def _keeps_characters(old: ColumnForm, new: ColumnForm) -> bool:
    if new.kind.word not in _CHARACTERS:
        return True
    if UNKNOWN_CHARSET in {old.charset, new.charset}:
        return False
    return old.charset == new.charset or (new.charset == "utf8mb4" and old.charset in _CHARSETS)


def _holds(old: ColumnForm, new: ColumnForm) -> bool:
    before, after = old.kind, new.kind
    if {before.word, after.word} <= {"ENUM", "SET"}:
        return before.word == after.word and bool(old.members) and new.members[: len(old.members)] == old.members
    if before.word in INTEGERS or before.word == "DECIMAL":
        return _holds_number(before, after)
    if before == after:
        return True
    if before.word == after.word and before.second_digits is not None:
        return (after.second_digits or 0) >= before.second_digits
    return _is_wider(before, after)


def _holds_number(before: SourceType, after: SourceType) -> bool:
    if after.is_positive and not before.is_positive:
        return False
    if after.word in INTEGERS and before.word in INTEGERS:
        room = 8 * _BYTES[after.word] - (not after.is_positive)
        return 8 * _BYTES[before.word] - (not before.is_positive) <= room
    if after.word != "DECIMAL":
        return False
    scale = before.scale or 0 if before.word == "DECIMAL" else 0
    whole = before.digits - scale if before.word == "DECIMAL" else len(str(2 ** (8 * _BYTES[before.word])))
    return (after.scale or 0) >= scale and after.digits - (after.scale or 0) >= whole


def _is_wider(before: SourceType, after: SourceType) -> bool:
    words = before.word, after.word
    if words in {("FLOAT", "DOUBLE"), ("DATE", "DATETIME")}:
        return after.is_positive <= before.is_positive and {before.length, before.scale} <= {None} >= {after.scale}
    if words in {("CHAR", "CHAR"), ("VARCHAR", "VARCHAR"), ("VARBINARY", "VARBINARY")}:
        return None not in {before.length, after.length} and (before.length or 0) <= (after.length or 0)
    for variable, width, sizes in (("VARCHAR", _WIDEST_CHARACTER, _TEXT_BYTES), ("VARBINARY", 1, _BLOB_BYTES)):
        if after.word in sizes and after.length is None:
            if before.word == variable and before.length is not None:
                return before.length * width < sizes[after.word]
            if before.word in sizes:
                return sizes[before.word] <= sizes[after.word]
    return False
