"""The definition of a column in an ALTER, and the value that existing rows get from it."""

import re
from datetime import date, datetime
from typing import Final

from tidemark.capture.schema.ddl.tokens import Cursor, Word
from tidemark.capture.schema.source_types import (
    BINARIES,
    DECIMALS,
    INTEGERS,
    TEXTS,
    TIMES,
    SourceType,
    SourceTypeError,
    known_name,
)

_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})
_NUMERIC: Final = INTEGERS | DECIMALS | _FLOATS | {"BOOLEAN"}
_TEXTUAL: Final = TEXTS - {"SET", "UUID", "ENUM", "JSON"}
_WORDS: Final = TEXTS | BINARIES | TIMES | _NUMERIC | {"DATE", "YEAR", "BIT"}
_NUMBER: Final = re.compile(r"-?(?P<whole>\d{1,65})(\.(?P<fraction>\d{1,38}))?")
_BYTES: Final = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}
_FLOAT_DIGITS: Final = 15
_IMPLICIT: Final = {**dict.fromkeys(_NUMERIC, "0"), **dict.fromkeys(_TEXTUAL, "")}
"""The value of existing rows in a NOT NULL column without a default."""
_MOST_CHARACTERS: Final = 255
"""The most characters of a default if the column's length is unknown: TINYTEXT has as many bytes."""


class UnknownDefinitionError(ValueError):
    """A definition whose effect on existing rows is unknown. `str()` gives the reason."""


class ColumnDefinition:
    """Reads `name TYPE attributes`. Raises UnknownDefinitionError for anything unknown.

    `may_be_null` and `charset` are None if the text does not set them; `collation` is the collation's name.
    """

    def __init__(self, words: Cursor) -> None:
        self._words = words
        self.may_be_null: bool | None = None
        self.charset: str | None = None
        self.collation: str | None = None
        self.counts_up = False
        self._default: Word | None = None
        self._sign = ""
        self.name = self._named()
        self._members: tuple[str, ...] = ()
        self.kind = self._type()
        while not words.is_at_end:
            self._attribute()

    @property
    def is_null_allowed(self) -> bool:
        """Whether NULL is allowed. A TIMESTAMP without NULL may be NOT NULL by some servers' settings."""
        return self.may_be_null is True or (self.may_be_null is None and self.kind.word != "TIMESTAMP")

    def value(self) -> str | None:
        """The value that existing rows get in an added column, as the server prints it; None is NULL."""
        if self.counts_up:
            raise UnknownDefinitionError("AUTO_INCREMENT values of existing rows")
        if self._default is not None and not self._default.is_("NULL"):
            return self._default_value(self._default)
        if self.may_be_null is not False:
            if self.kind.word == "TIMESTAMP" and self.may_be_null is None:
                raise UnknownDefinitionError("a TIMESTAMP without NULL may have the time of the ALTER")
            return None
        if self.kind.word not in _IMPLICIT:
            raise UnknownDefinitionError(f"the implicit value of a {self.kind.word} that may not be NULL")
        return _IMPLICIT[self.kind.word]

    def _default_value(self, word: Word) -> str:
        text = self._sign + _boolean(word)
        is_value = word.kind in {"text", "number", "bits"} or _boolean(word) != word.text
        if not is_value or not self._is_kept(text, word.kind):
            raise UnknownDefinitionError(f"an unknown default of a {self.kind.word}: {text[:80]}")
        return text

    def _is_kept(self, text: str, written: str) -> bool:
        """Whether the server stores the default exactly as written."""
        word = self.kind.word
        if word == "BIT":
            return self.kind.length == 1 and text in {"0", "1"} and written in {"bits", "number"}
        if word in _NUMERIC:
            return written != "bits" and _is_number(self.kind, text)
        if word in {"DATE", "DATETIME"}:
            return written == "text" and _is_time(word, text)
        is_textual = word in _TEXTUAL or (word == "ENUM" and text in self._members)
        return written == "text" and is_textual and self._is_text(text)

    def _is_text(self, text: str) -> bool:
        """Whether the server keeps the text.

        It cuts long texts and trailing blanks, and replaces unknown characters.
        """
        longest = self.kind.length if self.kind.length is not None else _MOST_CHARACTERS // 4
        is_cut = len(text) > longest or (self.kind.word in {"CHAR", "ENUM"} and text != text.rstrip(" "))
        is_there = self.charset == "utf8mb4" or (self.charset == "latin1" and _is_latin1(text))
        return not is_cut and (text.isascii() or is_there)

    def _named(self) -> str:
        word = self._words.next()
        if not word.is_name:
            raise UnknownDefinitionError(f"no column's name: {word.text[:80]}")
        return word.text

    def _type(self) -> SourceType:
        words = self._words
        following = [word.text.upper() for word in words.rest[:2] if word.kind == "word"]
        name, behind = known_name(following)
        if name not in _WORDS:
            raise UnknownDefinitionError(f"an unknown type: {words.peek().text[:80]}")
        for _ in range(max(1, len(following) - len(behind))):
            words.next()
        inside = words.parentheses() or ()
        sizes = [int(word.text) if word.text.isdecimal() and len(word.text) < 12 else None for word in inside[::2]]
        if name in {"ENUM", "SET"}:
            self._members, sizes = tuple(word.text for word in inside if word.kind == "text"), []
        modifiers = []
        while words.peek().is_("UNSIGNED", "SIGNED", "ZEROFILL"):
            modifiers.append(words.next().text.upper())
        try:
            return SourceType.parse(" ".join([name, *modifiers]), *sizes[:2])
        except SourceTypeError as error:
            raise UnknownDefinitionError(str(error)) from error

    def _attribute(self) -> None:
        words = self._words
        if words.take("NOT", "NULL") or words.take("PRIMARY", "KEY") or words.take("KEY"):
            self.may_be_null = False
        elif words.take("NULL"):
            self.may_be_null = True
        elif words.take("DEFAULT"):
            self._sign = "-" if words.take_sign("-") else ""
            self._default = words.next()
            words.parentheses()
        elif words.take("AUTO_INCREMENT"):
            self.counts_up = True
        elif not (self._is_of_text(words) or _is_indifferent(words)):
            raise UnknownDefinitionError(f"an unknown part of a column: {words.peek().text[:80]}")

    def _is_of_text(self, words: Cursor) -> bool:
        """Whether the attribute is a character set or a collation."""
        if words.take("CHARACTER", "SET") or words.take("CHARSET"):
            self.charset = _value(words)
        elif words.take("COLLATE"):
            self.collation = _value(words)
        else:
            return False
        return True


def _is_indifferent(words: Cursor) -> bool:
    """Whether the attribute changes no value."""
    if words.take_any("COMMENT", "AFTER"):
        _value(words)
    elif words.take("ON", "UPDATE"):
        words.next()
        words.parentheses()
    elif words.take("UNIQUE"):
        words.take("KEY")
    else:
        return words.take_any("FIRST", "VISIBLE", "INVISIBLE")
    return True


def _value(words: Cursor) -> str:
    words.take_sign("=")
    return words.next().text.lower()


def _boolean(word: Word) -> str:
    return {"TRUE": "1", "FALSE": "0"}.get(word.text.upper(), word.text) if word.kind == "word" else word.text


def _is_number(kind: SourceType, text: str) -> bool:
    match = _NUMBER.fullmatch(text)
    if match is None or (kind.is_positive and text.startswith("-")):
        return False
    fraction = match["fraction"] or ""
    if kind.word in _BYTES:
        bits = 8 * _BYTES[kind.word]
        low, high = (0, 2**bits - 1) if kind.is_positive else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return not fraction and low <= int(text) <= high
    whole = match["whole"].lstrip("0")
    if kind.word in DECIMALS:
        scale = kind.scale or 0
        return len(fraction) <= scale and len(whole) <= kind.digits - scale
    # A number with this few digits has the same nearest binary fraction on every system.
    return kind.length is None and len(whole) + len(fraction) <= _FLOAT_DIGITS


def _is_time(word: str, text: str) -> bool:
    try:
        if word == "DATE":
            return len(text) == len("2026-03-01") and str(date.fromisoformat(text)) == text
        return len(text) == len("2026-03-01 10:00:00") and str(datetime.fromisoformat(text)) == text
    except ValueError:
        return False


def _is_latin1(text: str) -> bool:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True
