"""Declarations of tables as somebody could write them who wants to do harm, or software that is broken."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

INJECTION = "10,2)) + CAST(java_method('java.lang.System','setProperty','owned','yes') AS DECIMAL(10"
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    66,
    2**31,
    2**63,
    10**400,
    1.5,
    1e300,
    "",
    "x",
    INJECTION,
    "`; DROP TABLE t; --",
    "${env:HOME}",
    "a`b",
    "a.b",
    "first name",
    "_shard",
    "_corrupt",
    "event_ms",
    "x" * 70,
    "\x00\n",
    "\ud83c\udf89",
    [],
    {},
    [[[[]]]],
    {"a": {"b": []}},
    "DECIMAL",
    "GEOMETRY",
    "INT UNSIGNED; SELECT 1",
    "DECIMAL(10,2)",
)
TEXTS = ("", "{", "null", "5", '"x"', "[5]", "[null]", "[{}]", '[{"id": 5}]', "[" * 5000 + "]" * 5000, "9" * 5000)


def declaration_of(table: str) -> list[dict[str, Any]]:
    """A well-formed declaration of `school.<table>`."""
    columns = [
        {"name": "id", "position": 1, "typeName": "BIGINT", "length": None, "scale": None},
        {"name": "amount", "position": 2, "typeName": "DECIMAL", "length": 10, "scale": 2},
        {"name": "at", "position": 3, "typeName": "DATETIME", "length": 3, "scale": None},
        {"name": "note", "position": 4, "typeName": "VARCHAR", "length": 64, "scale": None},
    ]
    table_of = {"primaryKeyColumnNames": ["id"], "columns": columns}
    return [{"type": "CREATE", "id": f'"school"."{table}"', "table": table_of}]


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a JSON value has values."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, value in below for path in paths(value, (*at, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of the value with something else at the path."""
    if not path:
        return new
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return changed


def mutate(value: Any, chance: Random, without: frozenset[Any] = frozenset()) -> Any:
    """A copy with something else in one or two places, none of them below a key in `without`."""
    for _ in range(chance.choice((1, 1, 2))):
        places = [path for path in paths(value) if not without.intersection(path)]
        value = put(value, chance.choice(places), chance.choice(VALUES))
    return value


def hostile_changes(chance: Random, table: str = "orders_0") -> str:
    """The JSON text of `tableChanges` with something wrong in it."""
    if chance.random() < 0.1:
        return chance.choice(TEXTS)
    return json.dumps(mutate(declaration_of(table), chance))
