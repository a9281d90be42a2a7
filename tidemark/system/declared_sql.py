"""The settings `variables` and `functions`, which a project declares for its queries."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, InstanceOf

from tidemark.dependency_model.lineage.declared_sql.sql_function import SqlFunction
from tidemark.dependency_model.lineage.declared_sql.variable import constant
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST: Final = 200
_INTEGER: Final = re.compile(r"-?[0-9]{1,38}")
_OTHERS: Final = frozenset(
    ["date_sub", "coalesce", "nvl", "ifnull", "nullif", "if", "greatest", "least", "sum", "count", "min", "max", "avg"]
)
_KEYS: Final = frozenset({"arguments", "sql", "equals", "returns"})
_SCALARS: Final = (bool, int, float, Decimal, dt.date, str)


def _variables(given: object) -> object:
    """The names and SQL texts of `{region: eu, least: 3}`, or of `region=eu, least=3` in the environment."""
    if isinstance(given, str):
        given = dict(map(_assigned, given.split(",")))
    if isinstance(given, tuple):
        return given
    values = _mapping(given, "{region: eu}")
    for name, value in values.items():
        if not isinstance(value, _SCALARS):
            raise ValueError(f"{name} is not a constant: write a text, a number, a date, true or false")  # noqa: TRY004 - pydantic's
    return tuple((name, _constant(name, value)) for name, value in values.items())


def _assigned(text: str) -> tuple[str, int | str]:
    name, sign, value = (word.strip() for word in text.partition("="))
    if not sign:
        raise ValueError("expected NAME=VALUE, NAME=VALUE")
    return name, int(value) if _INTEGER.fullmatch(value) else value


def _functions(given: object) -> object:
    """The functions of `{shifted: {arguments: [d], sql: "date_sub(d, 1)"}}`, or of the same as JSON."""
    if isinstance(given, str):
        given = json.loads(given)
    if isinstance(given, tuple):
        return given
    example = '{shifted: {arguments: [d], sql: "date_sub(d, 1)"}}'
    declared = _mapping(given, example)
    return tuple(_function(name, _mapping(function, example)) for name, function in declared.items())


def _function(name: str, declared: Mapping[str, Any]) -> SqlFunction:
    unknown = sorted({*declared} - _KEYS)
    if unknown:
        raise ValueError(f"{name} has an unknown key {unknown[0]}, write {', '.join(sorted(_KEYS))}")
    bodies = [key for key in ("sql", "equals") if key in declared]
    arguments = declared.get("arguments", [])
    if len(bodies) != 1 or not isinstance(arguments, list):
        raise ValueError(f"{name} needs a list of arguments, and sql (its text) or equals (a function of Spark)")
    _refuse_sparks_own(name)
    texts = (declared[bodies[0]], declared.get("returns", ""), *arguments)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name}: its arguments, expression and type must be texts")
    try:
        return SqlFunction.parse(
            name, tuple(arguments), texts[0], is_macro=bodies == ["sql"], returns=declared.get("returns", "")
        )
    except ParseError as error:
        raise ValueError(str(error)) from error


def _refuse_sparks_own(name: str) -> None:
    from tidemark.dependency_model.lineage.functions import FUNCTIONS  # noqa: PLC0415 - where a project has functions

    if name in FUNCTIONS or name in _OTHERS:
        raise ValueError(f"{name} is a function of Spark: choose another name")


def _mapping(given: object, example: str) -> Mapping[str, Any]:
    if not isinstance(given, dict) or len(given) > _MOST or not all(isinstance(name, str) for name in given):
        raise ValueError(f"expected at most {_MOST} names with what they are, such as {example}")
    return given


def _constant(name: str, value: Any) -> str:
    try:
        return constant(name, value)
    except ParseError as error:
        raise ValueError(str(error)) from error


VariablesField = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_variables)]
FunctionsField = Annotated[tuple[InstanceOf[SqlFunction], ...], BeforeValidator(_functions)]
