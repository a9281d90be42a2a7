"""Types of source columns, parsed into a closed set. No other part of a declared type ever gets into SQL text.

The limits are MySQL's and MariaDB's: https://mariadb.com/kb/en/data-types/
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

INTEGERS: Final = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"})
DECIMALS: Final = frozenset({"DECIMAL"})
TIMES: Final = frozenset({"TIME", "DATETIME", "TIMESTAMP"})
TEXTS: Final = frozenset(
    {"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "JSON", "UUID"}
)
BINARIES: Final = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
OTHERS: Final = frozenset({"DATE", "YEAR", "FLOAT", "DOUBLE", "BOOLEAN", "BIT"})
_WORDS: Final = INTEGERS | DECIMALS | TIMES | TEXTS | BINARIES | OTHERS
_OTHER_NAMES: Final = {
    "BOOL": "BOOLEAN",
    "CHAR VARYING": "VARCHAR",
    "CHARACTER": "CHAR",
    "CHARACTER VARYING": "VARCHAR",
    "DEC": "DECIMAL",
    "DOUBLE PRECISION": "DOUBLE",
    "FIXED": "DECIMAL",
    "FLOAT4": "FLOAT",
    "FLOAT8": "DOUBLE",
    "INT1": "TINYINT",
    "INT2": "SMALLINT",
    "INT3": "MEDIUMINT",
    "INT4": "INT",
    "INT8": "BIGINT",
    "INTEGER": "INT",
    "LONG": "MEDIUMTEXT",
    "LONG VARBINARY": "MEDIUMBLOB",
    "LONG VARCHAR": "MEDIUMTEXT",
    "MIDDLEINT": "MEDIUMINT",
    "NATIONAL CHAR": "CHAR",
    "NATIONAL CHARACTER": "CHAR",
    "NATIONAL VARCHAR": "VARCHAR",
    "NCHAR": "CHAR",
    "NUMERIC": "DECIMAL",
    "NVARCHAR": "VARCHAR",
    "REAL": "DOUBLE",
    "VARCHARACTER": "VARCHAR",
}
"""Synonyms of types in statements, with the name that the server stores."""
_LONGEST_NAME: Final = 2
_MODIFIERS: Final = frozenset({"UNSIGNED", "SIGNED", "ZEROFILL", "BINARY"})

_TYPE_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}( [A-Za-z0-9_]{1,31}){0,4}")
_MAX_LENGTH: Final = 2**32 - 1
_MAX_SCALE: Final = 38
_MAX_DIGITS: Final = 65
_MAX_SECOND_DIGITS: Final = 6
_MAX_BITS: Final = 64
_FLOAT_BITS: Final = 24
"""The most bits of a FLOAT(n); with more it is a DOUBLE."""


class SourceTypeError(ValueError):
    """A declared type outside the closed set, or with a size that no database accepts. `str()` gives the reason."""


class UnknownWordError(SourceTypeError):
    """A well-formed type name outside the closed set, of another server or a plug-in."""


@dataclass(frozen=True)
class SourceType:
    """`word` is the type's name in capitals, `length` and `scale` its sizes as declared (digits, characters, bits)."""

    word: str
    modifiers: tuple[str, ...]
    length: int | None
    scale: int | None

    @classmethod
    def parse(cls, name: object, length: object = None, scale: object = None) -> Self:
        """Parses a declared type. Raises SourceTypeError."""
        if not isinstance(name, str):
            raise SourceTypeError(f"a type name that is not a text: {_cut(name)}")
        word, modifiers = known_name(name.upper().split())
        if word not in _WORDS or not _MODIFIERS.issuperset(modifiers):
            kind = UnknownWordError if _TYPE_WORDS.fullmatch(name) else SourceTypeError
            raise kind(_cut(name))
        if word == "FLOAT" and scale is None and isinstance(length, int):
            word, length = "DOUBLE" if length > _FLOAT_BITS else "FLOAT", None
        parsed = cls(word, tuple(modifiers), _size(length, "length", _MAX_LENGTH), _size(scale, "scale", _MAX_SCALE))
        parsed._check_sizes()
        return parsed

    @property
    def name(self) -> str:
        """The canonical name: `BIGINT UNSIGNED`."""
        return " ".join((self.word, *self.modifiers))

    @property
    def is_unsigned(self) -> bool:
        """Whether a number is declared UNSIGNED."""
        return "UNSIGNED" in self.modifiers

    @property
    def is_positive(self) -> bool:
        """Whether a number has no negative values: UNSIGNED, or ZEROFILL, which implies it."""
        return self.is_unsigned or "ZEROFILL" in self.modifiers

    @property
    def digits(self) -> int:
        """All digits of a decimal; the default is 10."""
        return 10 if self.length is None else self.length

    @property
    def second_digits(self) -> int | None:
        """The digits of a time's seconds after the point; None for other types."""
        return (self.length or 0) if self.word in TIMES else None

    def __str__(self) -> str:
        given = ",".join(str(size) for size in (self.length, self.scale) if size is not None)
        return f"{self.name}({given})" if given else self.name

    def _check_sizes(self) -> None:
        if self.word in DECIMALS and not (1 <= self.digits <= _MAX_DIGITS and (self.scale or 0) <= self.digits):
            raise SourceTypeError(
                f"{self}: a decimal has 1 to {_MAX_DIGITS} digits, and at most all of them after the point"
            )
        if self.word in TIMES and (self.length or 0) > _MAX_SECOND_DIGITS:
            raise SourceTypeError(f"{self}: a time has 0 to {_MAX_SECOND_DIGITS} digits after the point")
        if self.word == "BIT" and (self.length or 0) > _MAX_BITS:
            raise SourceTypeError(f"{self}: at most {_MAX_BITS} bits")


def known_name(words: Sequence[str]) -> tuple[str, list[str]]:
    """The server's name of the type at the beginning of these capital words, and the remaining words."""
    for count in range(_LONGEST_NAME, 0, -1):
        name = " ".join(words[:count])
        if name in _OTHER_NAMES:
            return _OTHER_NAMES[name], list(words[count:])
    return (words[0], list(words[1:])) if words else ("", [])


def _size(given: object, what: str, highest: int) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= highest:
        raise SourceTypeError(f"a {what} that is not a whole number from 0 to {highest}: {_cut(given)}")
    return given


def _cut(given: object) -> str:
    """The declared value, cut to the length for a message."""
    text = repr(given) if not isinstance(given, str) else given
    return text if len(text) <= 80 else f"{text[:80]}..."
