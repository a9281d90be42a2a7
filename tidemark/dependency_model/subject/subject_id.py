"""`DependencySubjectId`: conditions joined by `&&`, the same id in any order.

    taskId=1234&&bizDate=20220101                   one date
    job=dwd_order&&bizDate=20220101..20220107       a range of dates, both ends included
    job=dwd_order&&bizDate=20220101,20220103        a set of dates
    table=dwd_order&&dt=20220101&&region=cn         a partition of a table

A value has letters, digits and `_ - : + .`. Other characters, and dots at its ends or in a row, are percent-encoded.
The text form is canonical: conditions sorted by name, values of a set sorted and without repeats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from tidemark.dependency_model.suggestion import quote_value
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TEXT_LIMIT = 16_384
_SAFE = ":+"
_NAME_LIMIT = 64
_DOTS = re.compile(r"^\.|\.$|\.(?=\.)|(?<=\.)\.")
"""Dots that could be confused with those of a range."""


@dataclass(frozen=True, slots=True, order=True)
class ConditionValues:
    """A sorted set of at least one value, or a range with both ends included."""

    values: tuple[str, ...]
    is_range: bool = False

    @classmethod
    def of(cls, values: Iterable[str]) -> ConditionValues:
        """One value or a set of them."""
        return cls(tuple(sorted(set(values))))

    @classmethod
    def range(cls, first: str, last: str) -> ConditionValues:
        """A range, both ends included."""
        return cls((first, last), is_range=True)

    def __str__(self) -> str:
        return (".." if self.is_range else ",").join(_encode(value) for value in self.values)


@dataclass(frozen=True, slots=True)
class DependencySubjectId:
    """Conditions in order of name."""

    conditions: tuple[tuple[str, ConditionValues], ...]

    @classmethod
    def of(cls, **conditions: str | ConditionValues) -> DependencySubjectId:
        """The id of these conditions, in any order."""
        values = {
            name: value if isinstance(value, ConditionValues) else ConditionValues.of([value])
            for name, value in conditions.items()
        }
        return cls(tuple(sorted(values.items())))

    @classmethod
    def parse(cls, text: str) -> DependencySubjectId:
        """Parses an id; conditions may be in any order. Raises ParseError."""
        if not isinstance(text, str) or not text or len(text) > TEXT_LIMIT:
            raise _unreadable(text, "this is not a subject id")
        conditions = list(_conditions(text))
        if len({name for name, _ in conditions}) < len(conditions):
            raise _unreadable(text, "a condition appears twice")
        return cls(tuple(sorted(conditions)))

    def get(self, name: str) -> ConditionValues | None:
        """The values of a condition."""
        return dict(self.conditions).get(name)

    def __str__(self) -> str:
        return "&&".join(f"{name}={values}" for name, values in self.conditions)


def _conditions(text: str) -> Iterator[tuple[str, ConditionValues]]:
    for position, part in enumerate(text.split("&&"), start=1):
        name, equals, value = part.strip().partition("=")
        if not (equals and name.isidentifier() and name.isascii() and len(name) <= _NAME_LIMIT):
            raise _unreadable(text, f"condition {position} is {quote_value(part)}, not name=value")
        yield name, _values(value, text, position)


def _values(value: str, text: str, position: int) -> ConditionValues:
    first, dots, last = value.partition("..")
    if dots:
        return ConditionValues.range(_decode(first, text, position), _decode(last, text, position))
    return ConditionValues.of(_decode(member, text, position) for member in value.split(","))


def _decode(value: str, text: str, position: int) -> str:
    try:
        decoded = unquote(value, errors="strict")
        is_canonical = bool(decoded) and _encode(decoded) == value
    except UnicodeError:
        is_canonical = False
    if not is_canonical:
        raise _unreadable(
            text, f"the value {quote_value(value)} of condition {position} is not written in its standard form"
        )
    return decoded


def _encode(value: str) -> str:
    return _DOTS.sub("%2E", quote(value, safe=_SAFE).replace("~", "%7E"))


def _unreadable(text: object, message: str) -> ParseError:
    return ParseError(message, expected="conditions such as taskId=1234&&bizDate=20220101", found=quote_value(text))
