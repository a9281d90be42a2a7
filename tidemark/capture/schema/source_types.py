"""Types of source columns, parsed into a closed set: nothing else of a declaration's type ever gets into SQL text.

The limits are MySQL's and MariaDB's: https://mariadb.com/kb/en/data-types/
"""

import re
from dataclasses import dataclass
from typing import Final, Self

INTEGERS: Final = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT"})
DECIMALS: Final = frozenset({"DECIMAL", "NUMERIC"})
TIMES: Final = frozenset({"TIME", "DATETIME", "TIMESTAMP"})
TEXTS: Final = frozenset(
    {"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "JSON", "UUID"}
)
BINARIES: Final = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
OTHERS: Final = frozenset({"DATE", "YEAR", "FLOAT", "DOUBLE", "BOOLEAN", "BIT"})
_WORDS: Final = INTEGERS | DECIMALS | TIMES | TEXTS | BINARIES | OTHERS
_MODIFIERS: Final = frozenset({"UNSIGNED", "SIGNED", "ZEROFILL", "PRECISION", "BINARY"})

_TYPE_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}( [A-Za-z0-9_]{1,31}){0,4}")
_MAX_LENGTH: Final = 2**32 - 1
_MAX_SCALE: Final = 38
_MAX_DIGITS: Final = 65
_MAX_SECOND_DIGITS: Final = 6
_MAX_BITS: Final = 64


class SourceTypeError(ValueError):
    """A declared type that is not in the closed set, or a size that no database accepts. `str()` says which."""


class UnknownWordError(SourceTypeError):
    """A type in words that are none of the closed set: of a server that has more types, or of a plug-in."""


@dataclass(frozen=True)
class SourceType:
    """`word` is the type's name in capitals, `length` and `scale` its sizes as declared (digits, characters, bits)."""

    word: str
    modifiers: tuple[str, ...]
    length: int | None
    scale: int | None

    @classmethod
    def parse(cls, name: object, length: object = None, scale: object = None) -> Self:
        """A type as it is declared. Raises SourceTypeError."""
        if not isinstance(name, str):
            raise SourceTypeError(f"a type name that is no text: {_cut(name)}")
        word, *modifiers = name.upper().split() or [""]
        if word not in _WORDS or not _MODIFIERS.issuperset(modifiers):
            kind = UnknownWordError if _TYPE_WORDS.fullmatch(name) else SourceTypeError
            raise kind(_cut(name))
        parsed = cls(word, tuple(modifiers), _size(length, "length", _MAX_LENGTH), _size(scale, "scale", _MAX_SCALE))
        parsed._check_sizes()
        return parsed

    @property
    def name(self) -> str:
        """The canonical name: `BIGINT UNSIGNED`."""
        return " ".join((self.word, *self.modifiers))

    @property
    def is_unsigned(self) -> bool:
        """Whether a number has no negative values."""
        return "UNSIGNED" in self.modifiers

    @property
    def digits(self) -> int:
        """Of a decimal, all of them; the default is 10."""
        return 10 if self.length is None else self.length

    @property
    def second_digits(self) -> int | None:
        """Behind the point of a time's seconds; None of other types."""
        return (self.length or 0) if self.word in TIMES else None

    def __str__(self) -> str:
        given = ",".join(str(size) for size in (self.length, self.scale) if size is not None)
        return f"{self.name}({given})" if given else self.name

    def _check_sizes(self) -> None:
        if self.word in DECIMALS and not (1 <= self.digits <= _MAX_DIGITS and (self.scale or 0) <= self.digits):
            raise SourceTypeError(f"{self}: a decimal has 1 to {_MAX_DIGITS} digits, and no more behind the point")
        if self.word in TIMES and (self.length or 0) > _MAX_SECOND_DIGITS:
            raise SourceTypeError(f"{self}: a time has 0 to {_MAX_SECOND_DIGITS} digits behind the point")
        if self.word == "BIT" and (self.length or 0) > _MAX_BITS:
            raise SourceTypeError(f"{self}: no more than {_MAX_BITS} bits")


def _size(given: object, what: str, highest: int) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= highest:
        raise SourceTypeError(f"a {what} that is no whole number from 0 to {highest}: {_cut(given)}")
    return given


def _cut(given: object) -> str:
    """What was declared, cut to what a message may hold."""
    text = repr(given) if not isinstance(given, str) else given
    return text if len(text) <= 80 else f"{text[:80]}..."
