"""A statement in a topic, and its effects on rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.capture.binlog.position import Position
from tidemark.capture.schema.ddl.statement import statement_effects
from tidemark.capture.schema.ddl.unlogged_row_effects import FormOf, StatementEffect, Unproven

_SHOWN = 200


@dataclass(frozen=True)
class RecordedStatement:
    """A statement at `offset` of the instance's topic. Names without a database belong to `database`.

    With `is_cut`, `sql` is only its beginning: its pass had too many statements to keep.
    """

    instance: str
    offset: int
    sql: str
    database: str
    position: Position | None = None
    is_cut: bool = False

    def effects(self, before: FormOf, after: FormOf) -> Sequence[StatementEffect]:
        """The effects on rows that no row event describes; `before` and `after` give the declarations of tables.

        This is an error boundary: a statement that breaks the parser may have changed every table of its database.
        """
        if self.is_cut:
            return [Unproven(f"{self.database}.*", "the statements of one pass are too long")]
        try:
            return statement_effects(self.sql, self.database, before, after)
        except Exception as error:  # noqa: BLE001 - an unreadable statement must not stop the others
            return [Unproven(f"{self.database}.*", f"the statement cannot be read: {type(error).__name__}")]

    def may_concern(self, database: str) -> bool:
        """Whether the statement can concern tables of a database: it runs there, or its text has the name."""
        name = database.lower()
        return self.database.lower() == name or "`" in name or name in self.sql.lower()

    @property
    def short_text(self) -> str:
        """The text, cut to the length for a message."""
        text = " ".join(self.sql.split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
