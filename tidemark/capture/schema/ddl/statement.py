"""A recorded statement, read by a closed list: its effects on rows, and the tables."""

from collections.abc import Sequence
from typing import Final

from tidemark.capture.schema.column_form import TableForm
from tidemark.capture.schema.ddl.alter import alter_effects, cascades
from tidemark.capture.schema.ddl.column_definition import UnknownDefinitionError
from tidemark.capture.schema.ddl.tokens import Cursor, UnreadableStatementError, Word, mentioned_tables, readings_of
from tidemark.capture.schema.ddl.unlogged_row_effects import Emptied, FormOf, StatementEffect, Unproven

# Statements that change rows only by row events, if at all.
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
"""Objects whose CREATE, ALTER or DROP changes no row."""


def undeclared(_: str) -> TableForm | None:
    """The form of a table whose declaration is unknown."""
    return None


def statement_effects(
    sql: str, database: str, before: FormOf = undeclared, after: FormOf = undeclared
) -> list[StatementEffect]:
    """The effects on rows without row events. Names without a database belong to `database`.

    `before` and `after` give the declarations of tables. If a statement is unknown, or can be read in more than one
    way, every table that it could name may have changed.
    """
    try:
        readings = readings_of(sql)
    except UnreadableStatementError as error:
        return [Unproven(f"{database}.*", f"the statement cannot be read: {error}")]
    first, *others = ([*_effects(words, database, before, after)] for words in readings)
    if all(other == first for other in others):
        return first
    named = dict.fromkeys(table for words in readings for table in mentioned_tables(words, database))
    return [Unproven(table, "the statement is ambiguous") for table in named]


def _effects(words: Sequence[Word], database: str, before: FormOf, after: FormOf) -> list[StatementEffect]:
    try:
        known = _known(Cursor(words), database, before, after)
    except UnknownDefinitionError:
        known = None
    if known is not None:
        return known
    return [Unproven(table, "the statement is not supported") for table in mentioned_tables(words, database)]


def _known(words: Cursor, database: str, before: FormOf, after: FormOf) -> list[StatementEffect] | None:
    """The effects of a known statement; None if it is not in the list."""
    if words.take("SET", "STATEMENT"):
        while not words.is_at_end and not words.take("FOR"):
            words.next()
    if words.take_any(*_HARMLESS):
        return []
    if words.take("TRUNCATE"):
        words.take("TABLE")
        table = words.table(database)
        return None if table is None else [Emptied(table)]
    if words.take("RENAME"):
        return _renamed(words, database) if words.take_any("TABLE", "TABLES") else None
    if words.peek().is_("ALTER"):
        words.next()
        return _altered(words, database, before, after)
    if words.peek().is_("CREATE", "DROP"):
        return _defined(words.next().text.upper(), words, database)
    return None


def _renamed(words: Cursor, database: str) -> list[StatementEffect] | None:
    names = [word for word in words.rest if word.kind != "sign" or word.text == "."]
    reason = "RENAME TABLE: rows of another table under this name"
    return [Unproven(table, reason) for table in mentioned_tables(names, database)]


def _altered(words: Cursor, database: str, before: FormOf, after: FormOf) -> list[StatementEffect] | None:
    kind = _object(words.rest)
    if kind == "TABLE":
        return alter_effects(words, database, before, after)
    return [] if kind in {*_OBJECTS, "DATABASE", "SCHEMA"} else None


def _defined(verb: str, words: Cursor, database: str) -> list[StatementEffect] | None:
    is_replacing = words.take("OR", "REPLACE")
    if _object(words.rest) in _OBJECTS:
        return []
    words.take("TEMPORARY")
    if words.take_any("DATABASE", "SCHEMA"):
        return _database(verb, words, database)
    if not words.take_any("TABLE", "TABLES") or is_replacing:
        return None
    if verb == "CREATE" and cascades(words.rest):
        words.take("IF", "NOT", "EXISTS")
        table = words.table(database)
        return None if table is None else [Unproven(table, "a foreign key that cascades writes no row events")]
    # A new table has no rows. A dropped table is in the record's declarations (dropped_shards.py).
    return []


def _database(verb: str, words: Cursor, database: str) -> list[StatementEffect]:
    if verb != "DROP":
        return []
    words.take("IF", "EXISTS")
    name = words.next()
    return [Unproven(f"{name.text if name.is_name else database}.*", "DROP DATABASE")]


def _object(words: Sequence[Word]) -> str:
    """The kind of object: the first word that names one, after `DEFINER = 'x'@'y'` and similar."""
    before = Word("sign", "")
    for word in words:
        if word.is_("TABLE", "TABLES", "DATABASE", "SCHEMA", *_OBJECTS):
            return word.text.upper()
        if word.kind == "name" and before.text not in {"=", "@"}:
            return ""
        before = word
    return ""
