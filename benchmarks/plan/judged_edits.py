"""Random edits, each judged by computing both queries with DuckDB, and by `query_change`."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from benchmarks.plan.edits import TABLES, Edit, random_edit, random_query
from tidemark.dependency_model.code_change.query_change import ALL_COLUMNS, QueryChange, query_change

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class JudgedEdit:
    """`is_same`: the same columns with the same rows. `differing`: columns that are called the same, and are not."""

    edit: Edit
    old: str
    new: str
    change: QueryChange
    is_same: bool
    differing: bool

    @property
    def is_missed(self) -> bool:
        """A change of content that is called none, or of a column that is called the same."""
        return self.differing or (not self.is_same and not self.change)

    @property
    def is_needless(self) -> bool:
        """An edit that changes nothing is called a change."""
        return self.edit is Edit.NOTHING and bool(self.change)


def judged_edits(count: int, seed: int) -> Iterator[JudgedEdit]:
    """So many of them, the same for a seed; edits that DuckDB refuses are passed over."""
    chance, lake = random.Random(seed), duckdb.connect()
    for name, rows in TABLES.items():
        lake.execute(f"CREATE TABLE {name} AS {rows}")
    left = count
    while left:
        query = random_query(chance)
        edit, new = random_edit(chance, query)
        old = str(query)
        before, after = _computed(lake, old), _computed(lake, new)
        if before is None or after is None:
            continue
        left -= 1
        change = query_change(old, new)
        kept = [name for name in before[0] if name in after[0] and not _is_told(change, name)]
        differs = bool(kept) and _rows(before, kept) != _rows(after, kept)
        yield JudgedEdit(edit, old, new, change, before == after, differs)


def _is_told(change: QueryChange, column: str) -> bool:
    return ALL_COLUMNS in change.columns or column in change.columns


def _computed(lake: duckdb.DuckDBPyConnection, query: str) -> tuple[list[str], list[tuple[Any, ...]]] | None:
    """The columns, and the rows in an order of their own."""
    try:
        answer = lake.execute(query)
    except duckdb.Error:
        return None
    names = [column[0].lower() for column in answer.description or ()]
    return names, sorted(answer.fetchall(), key=repr)


def _rows(computed: tuple[list[str], list[tuple[Any, ...]]], names: list[str]) -> list[tuple[Any, ...]]:
    places = [computed[0].index(name) for name in names]
    return sorted((tuple(row[place] for place in places) for row in computed[1]), key=repr)
