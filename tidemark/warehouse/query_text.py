"""A project's queries for the analysis, and their inputs as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.lineage.inferred_read import Read, Runs
from tidemark.dependency_model.offset.offset import Offset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.lineage.declared_sql.view import SqlView


@dataclass(frozen=True)
class QueryText:
    """A query of a file below the declarations' root, from `first_line` on.

    `names` are the positions of table names that had a schema; `views` are all views that it uses.
    """

    text: str
    file: str
    first_line: int = 1
    names: tuple[int, ...] = ()
    views: tuple[SqlView, ...] = ()


def reads_as_json(reads: Mapping[str, Read]) -> list[dict[str, Any]]:
    """The form of `reads_from_json`."""
    return [_as_json(read) for read in reads.values()]


def reads_from_json(told: Sequence[Mapping[str, Any]]) -> dict[str, Read]:
    """The inputs of a stored value, by table.

    Raises ParseError, KeyError, TypeError and ValueError for an invalid value.
    """
    return {str(read["table"]): _from_json(read) for read in told}


def _as_json(read: Read) -> dict[str, Any]:
    offsets = [str(offset) for offset in read.offsets]
    told = {"table": read.table, "where": read.where, "offsets": offsets, "undecidable": read.undecidable}
    slices = {"evaluated": read.evaluated, "at_least": read.at_least}
    return {**told, **{name: by_time for name, by_time in slices.items() if by_time}}


def _from_json(value: Mapping[str, Any]) -> Read:
    offsets = tuple(Offset.parse(text) for text in value["offsets"])
    evaluated, at_least = (_by_time(value.get(name, ())) for name in ("evaluated", "at_least"))
    return Read(str(value["table"]), str(value["where"]), offsets, str(value["undecidable"]), evaluated, at_least)


def _by_time(told: Sequence[Any]) -> tuple[tuple[int, Runs], ...]:
    return tuple((int(down), tuple((int(first), int(last)) for first, last in runs)) for down, runs in told)
