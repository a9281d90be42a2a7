"""A statement as the topic has it, and the effects that it has on rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemark.capture.binlog.position import Position
from tidemark.capture.schema.ddl.statement import statement_effects
from tidemark.capture.schema.ddl.unlogged_row_effects import StatementEffect

_SHOWN = 200


@dataclass(frozen=True)
class RecordedStatement:
    """A statement at `offset` of the instance's topic; `database` is that of names without one."""

    instance: str
    offset: int
    sql: str
    database: str
    position: Position | None = None

    @cached_property
    def effects(self) -> Sequence[StatementEffect]:
        """What it does to rows that no row event tells of."""
        return statement_effects(self.sql, self.database)

    @property
    def short_text(self) -> str:
        """Its text, cut to what a message may hold."""
        text = " ".join(self.sql.split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
