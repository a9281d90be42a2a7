"""A variable of a project: a constant that queries name as `:name`, besides the parameters of business time."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Final

from tidemark.dependency_model.lineage.business_time_parameters import parameter_names
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

VariableValue = bool | int | float | Decimal | dt.date | str
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
_LONGEST: Final = 1_000
_TAKEN: Final = frozenset(name for period in Period for name in parameter_names(period))


def constant(name: str, value: VariableValue) -> str:
    """The value as SQL: a number, TRUE, a date or a quoted text. Raises ParseError for another value."""
    if not _NAME.fullmatch(name) or name in _TAKEN:
        expected = f"small letters, digits and _, and none of {', '.join(sorted(_TAKEN))}"
        raise ParseError("no name of a variable", expected=expected, found=name)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        raise ParseError(f"the variable {name} is an instant", expected="a date, a number or a text", found=str(value))
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, (int, float, Decimal)):
        return _number(name, value)
    if not value.isprintable() or len(value) > _LONGEST:
        expected = f"at most {_LONGEST} characters that can be printed"
        raise ParseError(f"the variable {name} is no text", expected=expected, found=repr(value[:40]))
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _number(name: str, value: float | Decimal) -> str:
    decimal = Decimal(str(value))
    if not decimal.is_finite() or abs(decimal) >= Decimal(10) ** 38:
        raise ParseError(f"the variable {name} is no number", expected="a finite one below 1e38", found=str(value))
    text = format(decimal, "f")
    return f"({text})" if decimal < 0 else text
