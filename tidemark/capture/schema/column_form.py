"""A source column's declaration, in the detail that decides whether an ALTER changes values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tidemark.capture.schema.source_types import SourceType, SourceTypeError

UNKNOWN_CHARSET = "?"


@dataclass(frozen=True)
class ColumnForm:
    """`may_be_null` and `charset` are None if unknown; `members` are the values of an ENUM or SET, in order."""

    kind: SourceType
    may_be_null: bool | None = None
    charset: str | None = None
    counts_up: bool = False
    members: tuple[str, ...] = ()

    @classmethod
    def of(cls, listed: Mapping[str, Any]) -> Self | None:
        """The form of a column in Debezium's list; None for an unknown type."""
        try:
            kind = SourceType.parse(listed.get("typeName"), listed.get("length"), listed.get("scale"))
        except SourceTypeError:
            return None
        may_be_null, charset, members = (listed.get(name) for name in ("optional", "charsetName", "enumValues"))
        return cls(
            kind,
            may_be_null if isinstance(may_be_null, bool) else None,
            charset.lower() if isinstance(charset, str) else None,
            counts_up=listed.get("autoIncremented") is True,
            members=tuple(map(str, members)) if isinstance(members, list) else (),
        )

    def __str__(self) -> str:
        null = {True: " NULL", False: " NOT NULL", None: ""}[self.may_be_null]
        return f"{self.kind}{f' {self.charset}' if self.charset else ''}{null}"

    def to_json(self) -> list[Any]:
        """The form that a commit stores."""
        return [
            [self.kind.name, self.kind.length, self.kind.scale],
            self.may_be_null,
            self.charset,
            self.counts_up,
            list(self.members),
        ]

    @classmethod
    def from_json(cls, entry: list[Any]) -> Self:
        """The form of a value from `to_json`."""
        kind, may_be_null, charset, counts_up, members = entry
        return cls(SourceType.parse(*kind), may_be_null, charset, counts_up, tuple(members))


TableForm = Mapping[str, ColumnForm | None]
"""The columns of a physical table, by lower-case name; None if only a column's name is known."""
