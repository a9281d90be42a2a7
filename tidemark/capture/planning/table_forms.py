"""How a table's shards are declared at each offset. The effect of an ALTER on rows depends on it."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.schema.column_form import UNKNOWN_CHARSET, TableForm
from tidemark.capture.schema.ddl.recorded_statement import RecordedStatement
from tidemark.capture.schema.ddl.tokens import (
    UnreadableStatementError,
    Word,
    between_commas,
    mentioned_tables,
    readings_of,
)
from tidemark.capture.source.scan_summary import Summary
from tidemark.capture.source_table import SourceTable

_OF_COLUMNS: Final = ("ADD", "MODIFY", "CHANGE", "CONVERT")
_MOVES: Final = ("RENAME", "EXCHANGE", "CONVERT")


@dataclass(frozen=True)
class TableForms:
    """`known` are the forms of shards (`a.school.orders_0`) before the scan, `turns` their new forms by offset."""

    known: Mapping[str, TableForm]
    turns: Mapping[str, Sequence[tuple[int, TableForm | None]]]

    def before(self, shard: str, offset: int) -> TableForm | None:
        """The shard's form before the record at that offset; None if unknown."""
        mine = self.turns.get(shard, ())
        count = bisect_left(mine, offset, key=lambda turn: turn[0])
        return mine[count - 1][1] if count else self.known.get(shard)

    def after(self, shard: str, offset: int) -> TableForm | None:
        """The form that the record at that offset declares."""
        return next((form for at, form in self.turns.get(shard, ()) if at == offset), None)

    def at(self, ends: Mapping[str, int]) -> Mapping[str, TableForm]:
        """The forms of all shards before the offsets `ends` (by instance)."""
        shards = {*self.known, *self.turns}
        forms = {shard: self.before(shard, ends.get(shard.partition(".")[0], 0)) for shard in sorted(shards)}
        return {shard: form for shard, form in forms.items() if form is not None}


def table_forms(
    source: SourceTable, summary: Summary, order: BinlogOrder, known: Mapping[str, TableForm]
) -> TableForms:
    """The forms of the table's shards in a scan, without redelivered records."""
    statements = {(statement.instance, statement.offset): statement for statement in summary.statements}
    declared = [
        (change.instance, change.offset, change.schema.physical, change.schema.form)
        for change in summary.schema_changes
        if source.holds(change.instance, change.schema.physical)
        and not order.is_repeated(change.instance, change.offset, change.position)
    ]
    gone = [
        (drop.instance, drop.offset, drop.physical, None)
        for drop in summary.table_drops
        if source.holds(drop.instance, drop.physical)
        and not order.is_repeated(drop.instance, drop.offset, drop.position)
    ]
    places = {(instance, offset, physical) for instance, offset, physical, _ in declared}
    moved = [place for place in _moved(source, summary.statements) if place[:3] not in places]
    current, turns = dict[str, TableForm | None](known), defaultdict[str, list[tuple[int, TableForm | None]]](list)
    for instance, offset, physical, form in sorted([*declared, *gone, *moved], key=lambda change: change[:2]):
        shard = f"{instance}.{physical}"
        statement = statements.get((instance, offset))
        current[shard] = _declared(current.get(shard), form, statement.sql if statement else "")
        turns[shard].append((offset, current[shard]))
    return TableForms(known, turns)


def _moved(
    source: SourceTable, statements: Iterable[RecordedStatement]
) -> Iterable[tuple[str, int, str, TableForm | None]]:
    """Shards that a statement may have swapped with, or renamed from, another table."""
    for statement in statements:
        if statement.instance in source.instances and any(word in statement.sql.upper() for word in _MOVES):
            words = _words(statement.sql)
            if any(word.is_(*_MOVES) for word in words):
                for physical in mentioned_tables(words, statement.database):
                    if source.holds(statement.instance, physical):
                        yield statement.instance, statement.offset, physical, None


def _declared(before: TableForm | None, declared: TableForm | None, sql: str) -> TableForm | None:
    """The declaration after a statement, without the facts that the connector cannot know.

    If a server skips a conditional clause, because the column exists, Debezium still applies it. It also does not
    report a table's own character set.
    """
    if before is None or declared is None:
        return declared
    words = _words(sql) if "EXISTS" in sql.upper() or "COLLATE" in sql.upper() or "CHAR" in sql.upper() else []
    if _is_conditional(words):
        if words[0].is_("CREATE"):
            return before
        return {name: form if before.get(name, form) == form else None for name, form in declared.items()}
    if any(_sets_charset(clause) for clause in between_commas(words)):
        return {
            name: replace(form, charset=UNKNOWN_CHARSET) if form is not None and form.charset else form
            for name, form in declared.items()
        }
    return declared


def _words(sql: str) -> list[Word]:
    try:
        return readings_of(sql)[0]
    except UnreadableStatementError:
        return []


def _is_conditional(words: Sequence[Word]) -> bool:
    return any(word.is_("IF") and behind.is_("NOT", "EXISTS") for word, behind in pairwise(words))


def _sets_charset(clause: Sequence[Word]) -> bool:
    """Whether the clause sets an option of the table, as after `ALTER TABLE t` or a comma."""
    is_columns = any(word.is_(*_OF_COLUMNS, "CREATE") for word in clause[:4])
    return not is_columns and any(word.is_("CHARSET", "CHARACTER", "COLLATE") for word in clause)
