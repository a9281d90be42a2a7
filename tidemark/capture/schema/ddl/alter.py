"""The clauses of an ALTER TABLE, by a closed list. A clause outside the list may have changed rows.

The text alone does not show the effect. A clause with IF NOT EXISTS may do nothing, and a column's new type may or may
not change values. That depends on the table's earlier declaration.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from tidemark.capture.schema.column_form import UNKNOWN_CHARSET, ColumnForm, TableForm
from tidemark.capture.schema.ddl.column_definition import ColumnDefinition, UnknownDefinitionError
from tidemark.capture.schema.ddl.tokens import Cursor, Word, between_commas, mentioned_tables
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet, FormOf, StatementEffect, Unproven
from tidemark.capture.schema.kept_values import keeps_values

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
    ("ORDER", "BY"),
)


class _Alteration:
    """The effects of all clauses of one ALTER.

    `before` and `after` are the table's declarations before and after it.
    """

    def __init__(self, before: TableForm | None, after: TableForm | None) -> None:
        self._before = before
        self._after = after or {}
        self._added: dict[str, str | None] = {}
        self._missing: set[str] = set()
        self._dropped: set[str] = set()

    def values(self) -> dict[str, str | None]:
        """The columns that get a new value in all rows, by name.

        Drops apply first, wherever they are in the statement.
        """
        for name in self._missing:
            if self._before is None or name.lower() in {dropped.lower() for dropped in self._dropped}:
                raise UnknownDefinitionError(f"whether {name} was there before the statement")
        there = {name for name in self._added if name.lower() in (self._before or {})}
        for name in there.difference(self._missing):
            if name.lower() not in {dropped.lower() for dropped in self._dropped}:
                raise UnknownDefinitionError(f"the column {name}, which exists already")
        added = {name: value for name, value in self._added.items() if name not in there & self._missing}
        set_ = {name: value for name, value in added.items() if value is not None}
        names = {name.lower() for name in set_}
        return {**{name: None for name in sorted(self._dropped) if name.lower() not in names}, **set_}

    def add(self, words: Cursor, *, is_conditional: bool) -> None:
        """Add a column with its definition. A conditional clause does nothing if the column exists."""
        column = ColumnDefinition(words)
        form = self._after.get(column.name.lower())
        if column.charset is None and form is not None:
            column.charset = form.charset
        self._added[column.name] = column.value()
        if is_conditional:
            self._missing.add(column.name)

    def drop(self, name: str) -> None:
        """Drop the column of that name."""
        self._dropped.add(name)

    def modify(self, words: Cursor) -> None:
        """Change a column's definition, which begins with its name. Raises UnknownDefinitionError."""
        column = ColumnDefinition(words)
        old = (self._before or {}).get(column.name.lower())
        new = self._after.get(column.name.lower())
        if old is None or new is None:
            raise UnknownDefinitionError(f"the declaration of {column.name} before or after the statement")
        if not keeps_values(old, _as_said(new, column)):
            raise UnknownDefinitionError(f"values of {column.name} may change, from {old} to {new}")

    def convert(self, charset: str) -> None:
        """Convert all texts to a character set. Raises UnknownDefinitionError if it may lack some characters."""
        if charset != "utf8mb4":
            raise UnknownDefinitionError(f"characters that {charset} may not have")

    def key(self, columns: Iterable[Word]) -> None:
        """Add a primary key, whose columns must not be NULL. Raises UnknownDefinitionError."""
        for word in columns:
            form = (self._before or {}).get(word.text.lower())
            if word.is_name and (form is None or form.may_be_null is not False):
                raise UnknownDefinitionError(f"whether {word.text} was NULL")


def _as_said(form: ColumnForm, column: ColumnDefinition) -> ColumnForm:
    """The new form, with the properties that the statement itself sets."""
    charset = column.charset or form.charset
    if column.collation is not None and not column.collation.startswith(f"{charset}_"):
        charset = UNKNOWN_CHARSET
    may_be_null = form.may_be_null is not False and column.is_null_allowed
    return replace(form, may_be_null=may_be_null, charset=charset, counts_up=form.counts_up or column.counts_up)


def alter_effects(words: Cursor, database: str, before: FormOf, after: FormOf) -> list[StatementEffect]:
    """The effects of `ALTER ...

    TABLE`, read from after `ALTER`. An unknown clause may change any table that it names.
    """
    named = words.rest
    words.take_any("ONLINE", "OFFLINE")
    is_ignoring = words.take("IGNORE")
    words.take("TABLE")
    words.take("IF", "EXISTS")
    table = words.table(database)
    if table is None:
        raise UnknownDefinitionError("an ALTER without a table")
    if words.take("WAIT"):
        words.next()
    words.take("NOWAIT")
    if is_ignoring:
        return [Unproven(table, "IGNORE drops rows")]
    done = _Alteration(before(table), after(table))
    for clause in between_commas(words.rest):
        shown = " ".join(word.text for word in clause)[:120]
        try:
            is_known = _clause(Cursor(clause), done)
        except UnknownDefinitionError as error:
            return [Unproven(table, f"{shown}: {error}")]
        if not is_known:
            others = [other for other in mentioned_tables(named, database) if other != table]
            return [Unproven(name, shown) for name in (table, *others)]
    try:
        values = done.values()
    except UnknownDefinitionError as error:
        return [Unproven(table, str(error))]
    return [ColumnsSet(table, values)] if values else []


def _clause(words: Cursor, done: _Alteration) -> bool:
    """Whether the clause is known; if so, `done` records it. Raises UnknownDefinitionError."""
    return _is_added(words, done) or _is_dropped(words, done) or _keeps_rows(words, done)


def _is_added(words: Cursor, done: _Alteration) -> bool:
    if not words.take("ADD"):
        return False
    if words.take_any(*_INDEXES, "CHECK", "PARTITION"):
        return True
    is_constraint = words.take("CONSTRAINT")
    if is_constraint and words.peek().is_name and not words.peek().is_("PRIMARY", "FOREIGN", "UNIQUE", "CHECK"):
        words.next()
    if words.take("PRIMARY", "KEY"):
        done.key(word for word in words.rest if not word.is_("USING", "BTREE", "HASH"))
        return True
    if is_constraint or words.peek().is_("FOREIGN"):
        return not cascades(words.rest)
    words.take("COLUMN")
    is_conditional = words.take("IF", "NOT", "EXISTS")
    inside = words.parentheses()
    for definition in between_commas(words.rest if inside is None else inside):
        done.add(Cursor(definition), is_conditional=is_conditional)
    return inside is None or words.is_at_end


def _is_dropped(words: Cursor, done: _Alteration) -> bool:
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
    done.drop(column.text)
    return True


def _keeps_rows(words: Cursor, done: _Alteration) -> bool:
    """Whether the clause is known to change no value."""
    if words.peek().is_("MODIFY", "CHANGE"):
        return _is_modified(words, done)
    if words.take("RENAME"):
        return words.take_any("INDEX", "KEY")
    if words.take("CONVERT", "TO", "CHARACTER", "SET") or words.take("CONVERT", "TO", "CHARSET"):
        done.convert(words.next().text.lower())
        return True
    return words.take("ALTER") or _is_option(words)


def _is_modified(words: Cursor, done: _Alteration) -> bool:
    """Whether the clause is a new definition of a column that keeps its name."""
    is_changed = words.next().is_("CHANGE")
    words.take("COLUMN")
    words.take("IF", "EXISTS")
    if is_changed and words.next().text.lower() != words.peek().text.lower():
        return False
    done.modify(words)
    return True


def _is_option(words: Cursor) -> bool:
    """Whether the clause sets table options. They may follow one another without commas."""
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
    """Whether the clause only moves the same rows to other places."""
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


def cascades(words: Sequence[Word]) -> bool:
    """Whether a foreign key changes the child's rows without row events: ON DELETE or ON UPDATE with an action."""
    return any(
        word.is_("ON") and verb.is_("DELETE", "UPDATE") and action.is_("CASCADE", "SET")
        for word, verb, action in zip(words, words[1:], words[2:], strict=False)
    )
