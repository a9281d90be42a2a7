"""The statements of the recorded school, for each database instance in order."""

from __future__ import annotations

import json
import lzma
from typing import TYPE_CHECKING, Any

from tidemark.console.cdc_demo.sql_statements import Statement, Statements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Recording:
    """Statements of one instance, read on demand."""

    def __init__(self, folder: Path, first_offset: int = 0) -> None:
        """`folder` has the recorded days; records before `first_offset` were already replayed."""
        self._statements = _statements(folder, first_offset)
        self._next = next(self._statements, None)

    @property
    def at(self) -> int | None:
        """Time of the next statement (epoch seconds); None at the end."""
        return None if self._next is None else self._next[1].at

    def until(self, at: int, most: int) -> list[tuple[int, Statement]]:
        """The next statements (offset, statement) up to that time, limited in number.

        A statement that commits by itself is returned alone.
        """
        packet: list[tuple[int, Statement]] = []
        while self._next is not None and self._next[1].at <= at and len(packet) < most:
            if packet and (self._next[1].is_ddl or packet[-1][1].is_ddl):
                break
            packet.append(self._next)
            self._next = next(self._statements, None)
        return packet


def _statements(folder: Path, first_offset: int) -> Iterator[tuple[int, Statement]]:
    statements = Statements()
    for record in _records(folder):
        statement = statements.of(record["value"])
        if statement is not None and record["offset"] >= first_offset:
            yield record["offset"], statement


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
