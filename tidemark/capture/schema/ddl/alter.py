"""The clauses of an ALTER TABLE, by a closed list; what is not in it may have changed rows."""

from collections.abc import Iterable, Sequence
from typing import Final

from tidemark.capture.schema.ddl.column_definition import ColumnDefinition, UnknownDefinitionError
from tidemark.capture.schema.ddl.tokens import Cursor, Word, between_commas
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet, StatementEffect, Unproven

_INDEXES: Final = ("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL")
_OPTIONS: Final = (
    "ALGORITHM",
    "AUTO_INCREMENT",
    "AVG_ROW_LENGTH",
    "CHARSET",
    "CHECKSUM",
    "COLLATE",
    "COMMENT",
    "ENCRYPTED",
    "ENCRYPTION",
    "KEY_BLOCK_SIZE",
    "LOCK",
    "MAX_ROWS",
    "MIN_ROWS",
    "PACK_KEYS",
    "PAGE_COMPRESSED",
    "ROW_FORMAT",
    "STATS_AUTO_RECALC",
    "STATS_PERSISTENT",
    "STATS_SAMPLE_PAGES",
)
_KEEPING_PARTITIONS: Final = ("ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REORGANIZE", "COALESCE")
_ENGINES: Final = ("INNODB", "ARIA", "MYISAM", "ROCKSDB", "NDBCLUSTER", "NDB")
_REWRITING: Final = (
    ("PARTITION", "BY"),
    ("REMOVE", "PARTITIONING"),
    ("FORCE",),
    ("CONVERT", "TO"),
    ("ORDER", "BY"),
)


def alter_effects(words: Cursor, database: str) -> list[StatementEffect]:
    """What `ALTER ... TABLE` does, read from behind `ALTER`."""
    words.take_any("ONLINE", "OFFLINE")
    is_ignoring = words.take("IGNORE")
    words.take("TABLE")
    words.take("IF", "EXISTS")
    table = words.table(database)
    if table is None:
        raise UnknownDefinitionError("an ALTER without its table")
    if words.take("WAIT"):
        words.next()
    words.take("NOWAIT")
    if is_ignoring:
        return [Unproven(table, "IGNORE drops rows")]
    values: dict[str, str | None] = {}
    for clause in between_commas(words.rest):
        reason = _clause(Cursor(clause), values)
        if reason is not None:
            return [Unproven(table, reason)]
    return [ColumnsSet(table, values)] if values else []


def _clause(words: Cursor, values: dict[str, str | None]) -> str | None:
    """Why nobody knows what the clause does; None for a known one, whose values are added to `values`."""
    shown = " ".join(word.text for word in words.rest)[:120]
    try:
        if _is_added(words, values) or _is_dropped(words, values) or _keeps_rows(words):
            return None
    except UnknownDefinitionError as error:
        return f"{shown}: {error}"
    return shown


def _is_added(words: Cursor, values: dict[str, str | None]) -> bool:
    if not words.take("ADD"):
        return False
    if words.take_any(*_INDEXES, "CHECK", "PRIMARY", "PARTITION"):
        return True
    if words.take("CONSTRAINT") or words.peek().is_("FOREIGN"):
        return not _cascades(words.rest)
    words.take("COLUMN")
    words.take("IF", "NOT", "EXISTS")
    inside = words.parentheses()
    for definition in between_commas(words.rest if inside is None else inside):
        column = ColumnDefinition(Cursor(definition))
        value = column.value()
        if value is not None:
            values[column.name] = value
    return inside is None or words.is_at_end


def _is_dropped(words: Cursor, values: dict[str, str | None]) -> bool:
    if not words.take("DROP"):
        return False
    if words.take_any(*_INDEXES, "CONSTRAINT", "CHECK", "PRIMARY") or words.take("FOREIGN", "KEY"):
        return True
    if words.peek().is_("PARTITION", "SYSTEM", "PERIOD"):
        return False
    words.take("COLUMN")
    words.take("IF", "EXISTS")
    column = words.next()
    words.take_any("RESTRICT", "CASCADE")
    if not column.is_name or not words.is_at_end:
        return False
    values[column.text] = None
    return True


def _keeps_rows(words: Cursor) -> bool:
    """Clauses that change no value; a column's new type is judged by its declaration (`schema_changes.py`)."""
    if words.take("MODIFY"):
        return _is_modified(words)
    if words.take("CHANGE"):
        words.take("COLUMN")
        words.take("IF", "EXISTS")
        old = words.next().text
        return old.lower() == words.peek().text.lower() and _is_modified(words)
    if words.take("RENAME"):
        return words.take_any("INDEX", "KEY")
    if words.take("ALTER"):
        return True
    return _is_option(words)


def _is_modified(words: Cursor) -> bool:
    """Not where values are computed anew."""
    return not any(word.is_("AS", "GENERATED", "AUTO_INCREMENT", "PARTITION") for word in words.rest)


def _is_option(words: Cursor) -> bool:
    """Options of a table may follow one another without a comma, as many as somebody likes."""
    while True:
        if words.take_any("ENABLE", "DISABLE"):
            return words.take("KEYS")
        if words.take("ENGINE"):
            words.take_sign("=")
            if not words.next().is_(*_ENGINES):
                return False
        elif _is_rewritten(words):
            return True
        elif not _is_setting(words):
            return False
        if words.is_at_end:
            return True


def _is_rewritten(words: Cursor) -> bool:
    """The same rows, in other places or other characters."""
    if words.take_any(*_KEEPING_PARTITIONS):
        return words.take("PARTITION")
    return any(words.take(*clause) for clause in _REWRITING)


def _is_setting(words: Cursor) -> bool:
    words.take("DEFAULT")
    if not (words.take("CHARACTER", "SET") or words.take_any(*_OPTIONS)):
        return False
    words.take_sign("=")
    words.next()
    return True


def _cascades(words: Iterable[Word]) -> bool:
    """Whether a foreign key changes rows of the child without row events: ON DELETE or ON UPDATE with an action."""
    listed: Sequence[Word] = list(words)
    return any(
        word.is_("CASCADE") or (word.is_("SET") and at + 1 < len(listed) and listed[at + 1].is_("NULL", "DEFAULT"))
        for at, word in enumerate(listed)
    )
