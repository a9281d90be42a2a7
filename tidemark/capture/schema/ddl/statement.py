"""A recorded statement, read by a closed list: what it does to rows, of which tables."""

from collections.abc import Sequence
from typing import Final

from tidemark.capture.schema.ddl.alter import alter_effects
from tidemark.capture.schema.ddl.column_definition import UnknownDefinitionError
from tidemark.capture.schema.ddl.tokens import Cursor, UnreadableStatementError, Word, mentioned_tables, words_of
from tidemark.capture.schema.ddl.unlogged_row_effects import Emptied, StatementEffect, Unproven

# Statements whose changes of rows, if any, are row events.
_HARMLESS: Final = (
    "ANALYZE",
    "BEGIN",
    "CHECK",
    "COMMIT",
    "FLUSH",
    "GRANT",
    "OPTIMIZE",
    "REVOKE",
    "SAVEPOINT",
    "SET",
    "USE",
)
_OBJECTS: Final = (
    "AGGREGATE",
    "EVENT",
    "FULLTEXT",
    "FUNCTION",
    "INDEX",
    "PACKAGE",
    "PROCEDURE",
    "ROLE",
    "SEQUENCE",
    "SERVER",
    "SPATIAL",
    "TRIGGER",
    "UNIQUE",
    "USER",
    "VIEW",
)
"""What is made, altered or dropped without a row's changing."""


def statement_effects(sql: str, database: str) -> list[StatementEffect]:
    """What the statement does to rows without row events; `database` is that of names without one.

    Of a statement that is not known, every table that it could name may have changed.
    """
    try:
        words = words_of(sql)
    except UnreadableStatementError as error:
        return [Unproven(f"{database}.*", f"the statement cannot be read: {error}")]
    try:
        known = _known(Cursor(words), database)
    except UnknownDefinitionError:
        known = None
    if known is not None:
        return known
    return [Unproven(table, "the statement is not known") for table in mentioned_tables(words, database)]


def _known(words: Cursor, database: str) -> list[StatementEffect] | None:
    """None for a statement that is not in the list."""
    if words.take_any(*_HARMLESS):
        return []
    if words.take("TRUNCATE"):
        words.take("TABLE")
        table = words.table(database)
        return None if table is None else [Emptied(table)]
    if words.take("RENAME"):
        return _renamed(words, database) if words.take_any("TABLE", "TABLES") else None
    if words.peek().is_("CREATE", "DROP", "ALTER"):
        return _defined(words.next().text.upper(), words, database)
    return None


def _renamed(words: Cursor, database: str) -> list[StatementEffect] | None:
    names = [word for word in words.rest if word.kind != "sign" or word.text == "."]
    reason = "RENAME TABLE: rows of another table under this name"
    return [Unproven(table, reason) for table in mentioned_tables(names, database)]


def _defined(verb: str, words: Cursor, database: str) -> list[StatementEffect] | None:
    rest = words.rest
    is_replacing = words.take("OR", "REPLACE")
    if _object(words.rest) in _OBJECTS:
        return []
    words.take("TEMPORARY")
    if verb == "ALTER" and _object(rest) == "TABLE":
        return alter_effects(Cursor(rest), database)
    if words.take_any("DATABASE", "SCHEMA"):
        return _database(verb, words, database)
    if not words.take_any("TABLE", "TABLES") or is_replacing or verb == "ALTER":
        return None
    # A table that is made has no rows; of one that is dropped its declaration tells (dropped_shards.py).
    return []


def _database(verb: str, words: Cursor, database: str) -> list[StatementEffect]:
    if verb != "DROP":
        return []
    words.take("IF", "EXISTS")
    name = words.next()
    return [Unproven(f"{name.text if name.is_name else database}.*", "DROP DATABASE")]


def _object(words: Sequence[Word]) -> str:
    """What is defined: the first word that says so, behind `DEFINER = 'x'@'y'` and others of the kind."""
    before = Word("sign", "")
    for word in words:
        if word.is_("TABLE", "TABLES", "DATABASE", "SCHEMA", *_OBJECTS):
            return word.text.upper()
        if word.kind == "name" and before.text not in {"=", "@"}:
            return ""
        before = word
    return ""
