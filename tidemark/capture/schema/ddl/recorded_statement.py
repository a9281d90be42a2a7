"""A statement as the topic has it, and the effects that it has on rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.capture.binlog.position import Position
from tidemark.capture.schema.ddl.statement import statement_effects
from tidemark.capture.schema.ddl.unlogged_row_effects import FormOf, StatementEffect, Unproven

_SHOWN = 200


@dataclass(frozen=True)
class RecordedStatement:
    """A statement at `offset` of the instance's topic; `database` is that of names without one."""

    instance: str
    offset: int
    sql: str
    database: str
    position: Position | None = None

    def effects(self, before: FormOf, after: FormOf) -> Sequence[StatementEffect]:
        """What it does to rows that no row event tells of; `before` and `after` say how tables are declared.

        The boundary of a statement: one that breaks its reader may have changed every table of its database.
        """
        try:
            return statement_effects(self.sql, self.database, before, after)
        except Exception as error:  # noqa: BLE001 - the text is somebody else's; other statements are read
            return [Unproven(f"{self.database}.*", f"the statement cannot be read: {type(error).__name__}")]

    def may_concern(self, database: str) -> bool:
        """Whether it can be on tables of a database: it is executed there, or names it somewhere."""
        name = database.lower()
        return self.database.lower() == name or "`" in name or name in self.sql.lower()

    @property
    def short_text(self) -> str:
        """Its text, cut to what a message may hold."""
        text = " ".join(self.sql.split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
