"""Why a slice has no tag, in capture's own words: what a commit is held for, or what a step said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidemark.capture.commits.commit_state import commits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.components.chain.tables import ChainTable

_WORDS: Final = ("not tagged, held: ", "never tagged, ")


def reason(table: ChainTable, slice_key: str, path: Path, steps: Iterable[dict[str, Any]]) -> str | None:
    """None while nobody said it."""
    lines = (line for step in steps for line in step.get("warnings", ()))
    said = next((line for line in lines if _is_of(line, table.name, slice_key)), None)
    return said or _held(path, slice_key)


def _is_of(line: str, entity: str, slice_key: str) -> bool:
    """`ods_orders 2026-03-23T01: never tagged, ...`, or `ods_orders 2026-03-23T01 to 2026-03-23T04 (4 slices): ...`."""
    slices, _, why = line.partition(": ")
    name, _, span = slices.partition(" ")
    first, _, last = span.partition(" (")[0].partition(" to ")
    return name == entity and first <= slice_key <= (last or first) and why.startswith(_WORDS)


def _held(path: Path, slice_key: str) -> str | None:
    for commit in commits(path):
        if any(slice_end.slice == slice_key for slice_end in commit.state.closes) and commit.state.holds.open:
            return "; ".join(str(hold.finding) for hold in commit.state.holds.open)
    return None


def untagged(
    tables: Sequence[ChainTable],
    expected: Iterable[tuple[str, str]],
    tagged: set[tuple[str, str]],
    warehouse: Path,
    steps: Sequence[dict[str, Any]],
) -> dict[tuple[str, str], str | None]:
    """Of the (table, slice) that are `expected` and not `tagged` the reason."""
    by_name = {table.name: table for table in tables}
    return {
        (name, key): reason(by_name[name], key, warehouse / name, steps)
        for name, key in expected
        if (name, key) not in tagged
    }
