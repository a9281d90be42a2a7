"""The lake as it lies in the server's folder, read by delta-rs and by hand: nothing of the engine's is asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Row = tuple[Any, ...]


def rows_of(table: Path, columns: Sequence[str], version: int | None = None) -> Counter[Row]:
    """How often each row is there."""
    stored = DeltaTable(str(table), version=version).to_pyarrow_table(columns=list(columns))
    return Counter(tuple(row[name] for name in columns) for row in stored.to_pylist())


def actions_of(table: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Version and action of the whole log; a commit that is torn is an error."""
    commits = sorted((table / "_delta_log").glob("*.json"))
    versions = [int(commit.stem) for commit in commits]
    assert versions == list(range(len(versions))), f"{table.name}: versions {versions}"
    for version, commit in zip(versions, commits, strict=True):
        for line in commit.read_text(encoding="utf-8").splitlines():
            yield version, json.loads(line)


def require_whole(table: Path) -> None:
    """Each file that the newest version names is there, as long as it says, and ends as a file of rows does."""
    for action in pa.table(DeltaTable(str(table)).get_add_actions(flatten=True)).to_pylist():
        file = table / unquote(action["path"])
        assert file.stat().st_size == action["size_bytes"], f"{file} is torn"
        assert pq.read_metadata(file).num_rows == action["num_records"], f"{file} has other rows"


def batches_of(table: Path) -> list[int]:
    """The numbers of the capture's transactions, in the order of the log."""
    return [int(action["txn"]["version"]) for _, action in actions_of(table) if "txn" in action]


def writes_of(table: Path) -> Counter[str]:
    """How many commits of the engine's wrote each day; a repair counts for itself."""
    wrote: dict[int, set[str]] = {}
    said: dict[int, str] = {}
    for version, action in actions_of(table):
        if "add" in action:
            wrote.setdefault(version, set()).add(action["add"]["partitionValues"]["dt"])
        if "commitInfo" in action:
            said[version] = action["commitInfo"].get("userMetadata") or ""
    return Counter(day for version, days in wrote.items() if '"write"' in said[version] for day in days)


def repairs_of(table: Path) -> int:
    """How many commits were repairs."""
    infos = (action["commitInfo"] for _, action in actions_of(table) if "commitInfo" in action)
    return sum('"repair"' in (info.get("userMetadata") or "") for info in infos)
