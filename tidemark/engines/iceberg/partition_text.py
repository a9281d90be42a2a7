"""Values of partition columns, from the text in Delta's log to the form in Iceberg's manifests."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from tidemark.engines.errors import IcebergCannotHoldError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _days(text: str) -> int:
    return (date.fromisoformat(text) - _EPOCH.date()).days


def _microseconds(text: str) -> int:
    at = datetime.fromisoformat(text)
    since = (at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "boolean": lambda text: text == "true",
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
    "date": _days,
    "timestamp": _microseconds,
}


def partition_value(text: str | None, type_: str, where: str, column: str) -> Any:
    """A value of the Iceberg type `type_`. Delta has no empty text in a partition: it is NULL.

    Raises IcebergCannotHoldError.
    """
    if not text:
        return None
    if type_.startswith("decimal"):
        return Decimal(text)
    if type_ not in _READ:
        raise IcebergCannotHoldError.partition(where, column, type_)
    return _READ[type_](text)
