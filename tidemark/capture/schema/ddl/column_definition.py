"""The definition of a column that an ALTER adds: which value rows that are there get."""

import re
from typing import Final

from tidemark.capture.schema.ddl.tokens import Cursor, Word
from tidemark.capture.schema.source_types import DECIMALS, INTEGERS, TEXTS

_NUMERIC: Final = INTEGERS | DECIMALS | {"FLOAT", "DOUBLE", "BOOL", "BOOLEAN"}
_TEXTUAL: Final = TEXTS - {"SET", "UUID", "ENUM", "JSON"}
_WHOLE: Final = re.compile(r"-?\d{1,20}")
_NUMBER: Final = re.compile(r"-?\d{1,65}(\.\d{1,38})?")
_DATE: Final = re.compile(r"[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_DATETIME: Final = re.compile(_DATE.pattern + r" ([01]\d|2[0-3]):[0-5]\d:[0-5]\d")
_DEFAULTS: Final = {
    **dict.fromkeys(_NUMERIC, _NUMBER),
    **dict.fromkeys((*INTEGERS, "BOOL", "BOOLEAN"), _WHOLE),
    "DATE": _DATE,
    "DATETIME": _DATETIME,
}
_IMPLICIT: Final = {**dict.fromkeys(_NUMERIC, "0"), **dict.fromkeys(_TEXTUAL, "")}
"""What rows get in a column that may not be NULL and has no default."""
_TEXT_LIKE: Final = _TEXTUAL | {"ENUM"}


class UnknownDefinitionError(ValueError):
    """A definition of which nobody can say what rows get. `str()` says why."""


class ColumnDefinition:
    """Reads `name TYPE attributes`; whatever is not known raises UnknownDefinitionError."""

    def __init__(self, words: Cursor) -> None:
        self._words = words
        self._may_be_null: bool | None = None
        self._default: Word | None = None
        self._sign = ""
        self.name = self._named()
        self._kind = words.next().text.upper()
        words.parentheses()
        while not words.is_at_end:
            self._attribute()

    def value(self) -> str | None:
        """What rows that are there get, as the server prints it; None is NULL."""
        if self._default is not None and not self._default.is_("NULL"):
            return self._default_value(self._default)
        if self._may_be_null is not False:
            if self._kind == "TIMESTAMP" and self._may_be_null is None:
                raise UnknownDefinitionError("a TIMESTAMP that is not said to be NULL may be the time of the ALTER")
            return None
        if self._kind not in _IMPLICIT:
            raise UnknownDefinitionError(f"the implicit value of a {self._kind} that may not be NULL")
        return _IMPLICIT[self._kind]

    def _default_value(self, word: Word) -> str:
        text = self._sign + _boolean(word)
        if word.kind == "text" and self._kind in _TEXT_LIKE:
            return text
        known = _DEFAULTS.get(self._kind)
        if known is None or (word.kind == "word" and _boolean(word) == word.text) or not known.fullmatch(text):
            raise UnknownDefinitionError(f"a default of a {self._kind} that is not known: {text[:80]}")
        return text

    def _named(self) -> str:
        word = self._words.next()
        if not word.is_name:
            raise UnknownDefinitionError(f"no column's name: {word.text[:80]}")
        return word.text

    def _attribute(self) -> None:
        words = self._words
        if words.take("NOT", "NULL"):
            self._may_be_null = False
        elif words.take("NULL"):
            self._may_be_null = True
        elif words.take("DEFAULT"):
            self._sign = "-" if words.take_sign("-") else ""
            self._default = words.next()
        elif words.take("CHARACTER", "SET") or words.take_any("CHARSET", "COLLATE", "COMMENT", "AFTER"):
            words.take_sign("=")
            words.next()
        elif not words.take_any("UNSIGNED", "SIGNED", "ZEROFILL", "FIRST", "VISIBLE", "INVISIBLE", "PRECISION"):
            raise UnknownDefinitionError(f"what is not known of a column: {words.peek().text[:80]}")


def _boolean(word: Word) -> str:
    return {"TRUE": "1", "FALSE": "0"}.get(word.text.upper(), word.text) if word.kind == "word" else word.text
