"""What a logical table holds, by the database and by the lake: a number a row, so that all of its states can be kept.

Both sides are read as values of Python and made one form by the same code; a row's number is a hash of the names and
values that are not NULL, so that a column that came later is not missed before.
"""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tests.components.chain.tables import DATABASE, ChainTable
from tests.components.test_both_captures import exactly, plain
from tidemark.delta.delta_rs_table import read_rows, table_exists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pymysql.cursors import Cursor

Key = tuple[Any, ...]
Content = dict[Key, int]


@dataclass(frozen=True)
class Difference:
    """Rows of the database that the lake lacks, rows that only the lake has, keys that it has twice, other values."""

    lost: int = 0
    extra: int = 0
    doubled: int = 0
    torn: int = 0
    example: str = ""

    def __bool__(self) -> bool:
        return bool(self.lost or self.extra or self.doubled or self.torn)


def stored_rows(cursors: Mapping[str, Cursor], table: ChainTable) -> Content:
    """What the instances answer now."""
    return dict(_number(table, (row for name, cursor in cursors.items() for row in _select(name, cursor, table))))


def captured_rows(path: Path, table: ChainTable, version: int | None = None) -> list[tuple[Key, int]]:
    """What a version of the Delta table holds; nothing where there is no table."""
    if not table_exists(path):
        return []
    return list(_number(table, read_rows(path, version).to_pylist()))


def difference(actual: Sequence[tuple[Key, int]], expected: Content) -> Difference:
    """What is wrong with the lake's rows."""
    counts = Counter(key for key, _ in actual)
    lost, extra = expected.keys() - counts.keys(), counts.keys() - expected.keys()
    doubled = [key for key, count in counts.items() if count > 1]
    torn = [key for key, number in actual if key in expected and expected[key] != number]
    first = next((str(min(keys)) for keys in (lost, extra, doubled, torn) if keys), "")
    return Difference(len(lost), len(extra), len(doubled), len(torn), first)


def keep(content: Content, path: Path) -> None:
    """For the end, when it is compared."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content))


def kept_rows(path: Path) -> Content:
    """What `keep` wrote."""
    content: Content = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
    return content


def _select(instance: str, cursor: Cursor, table: ChainTable) -> Iterator[dict[str, Any]]:
    for shard in table.shards:
        cursor.execute(f"SHOW TABLES LIKE '{shard}'")
        if not cursor.fetchall():
            continue  # not made yet, or dropped
        cursor.execute(f"SHOW COLUMNS FROM {shard}")
        names = [str(row[0]) for row in cursor.fetchall()]
        listed = ", ".join(map(exactly, names))
        cursor.execute(f"SELECT {listed} FROM {shard}")  # noqa: S608 - our own names
        for row in cursor.fetchall():
            yield {"_shard": f"{instance}.{DATABASE}.{shard}", **dict(zip(names, row, strict=True))}


def _number(table: ChainTable, rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Key, int]]:
    for row in rows:
        values = {name: plain(name, value) for name, value in row.items() if name == "_shard" or name[0] != "_"}
        known = sorted((name, value) for name, value in values.items() if value is not None)
        number = int.from_bytes(blake2b(repr(known).encode(), digest_size=8).digest())
        yield (row["_shard"], *(values[name] for name in table.key)), number
