"""Rows of any engine in one form: sorted texts, in which equal values are equal whatever types the engine gives."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def canonical_rows(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted(repr(sorted((name, _text(value)) for name, value in row.items())) for row in rows)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, ".2f")
    if isinstance(value, list):
        return repr([*map(_text, value)])
    return repr(value)
