"""Executes the workload on the real instances, in one global order of simulated time.

Statements of one instance in a row go over in one packet; before the other instance's turn the packet is executed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pymysql
    from pymysql.cursors import Cursor

    from tests.components.workload.schema import Instance
    from tests.components.workload.sql import Statement

_PACKET_STATEMENTS = 100


@dataclass
class Player:
    """Open sessions on the instances; `changes` counts the row changes that were executed."""

    sessions: Mapping[Instance, pymysql.Connection[Cursor]]
    changes: int = 0
    _pending: list[str] = field(default_factory=list)
    _instance: Instance = "a"
    _at: Counter[Instance] = field(default_factory=Counter)

    def play(self, statement: Statement) -> None:
        """Execute a statement, at the latest with the next `flush`."""
        if statement.instance != self._instance or len(self._pending) >= _PACKET_STATEMENTS:
            self.flush()
            self._instance = statement.instance
        if self._at[statement.instance] != statement.at:
            self._at[statement.instance] = statement.at
            self._pending.append(f"SET TIMESTAMP = {statement.at}")
        self._pending.append(statement.sql)
        self.changes += statement.rows

    def flush(self) -> None:
        """Execute what is pending."""
        if self._pending:
            with self.sessions[self._instance].cursor() as cursor:
                cursor.execute("; ".join(self._pending))
                while cursor.nextset():
                    pass
            self._pending.clear()
