"""The SELECT of a query's file, which is what Spark runs, at its place in the file.

Files from other systems have `INSERT OVERWRITE TABLE x PARTITION (..) SELECT`, `CREATE TABLE x AS SELECT` and `SET`.
Here the file's name is the target, and the slice is the partition. A statement that says the same is replaced by
spaces; one that says something else is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.partition_clause import refuse_other_partition
from tidemark.dependency_model.lineage.qualified_names import Naming, leave_out_qualifiers
from tidemark.dependency_model.lineage.sql_text import (
    SqlWord,
    code_and_names_of,
    code_of,
    leave_out,
    place_at,
    spaces,
    words,
)
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.lineage.computed_table import ComputedTable

_QUERY: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("})
_STATEMENT: Final = re.compile(r"[^;]+")
_TARGET: Final = re.compile(
    r"\s*((?:\{\{.*?\}\}|\$\{[^}]*\}|`[^`]*`|\w+)(?:\s*\.\s*(?:\$\{[^}]*\}|`[^`]*`|\w+))*)", re.DOTALL
)
_INSERT: Final = re.compile(r"\bINSERT\s+(?:OVERWRITE|INTO)\b", re.IGNORECASE)
_INTO: Final = re.compile(r"\s*(OVERWRITE|INTO)\b(?:\s+TABLE\b)?", re.IGNORECASE)
_EXISTS: Final = re.compile(r"\s*IF\s+NOT\s+EXISTS\b", re.IGNORECASE)
_PARTITION: Final = re.compile(r"\s*PARTITION\s*\(", re.IGNORECASE)
_CREATE: Final = re.compile(r"CREATE\s+(?:OR\s+REPLACE\s+)?TABLE\b(?:\s+IF\s+NOT\s+EXISTS\b)?", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{#.*?#\}|\{\{-?\s*config\(.*?\)\s*-?\}\}", re.DOTALL)
"""Template code before a statement."""
_NO_NAME: Final = re.compile(r"[${}]")
_MORE_THAN_A_SELECT: Final = (";", "CREATE", "INSERT")
"""A text with none of these is at most one statement, and it writes nothing."""


@dataclass(frozen=True, slots=True)
class SelectText:
    """`text` is what runs. `notices` say what is ignored.

    `names` are the positions of names without their qualifier.
    """

    text: str
    notices: tuple[QueryError, ...] = ()
    names: tuple[int, ...] = ()


def select_text(
    text: str, *, file: str, written: ComputedTable | None = None, naming: Naming | None = None
) -> SelectText:
    """The SELECT of a text, without the rest. Raises QueryError if the rest contradicts the entity.

    Other texts are returned unchanged, and the parser reports their errors.
    """
    selected, notices = text, tuple[QueryError, ...]()
    capitals = text.upper()
    if any(sign in capitals for sign in _MORE_THAN_A_SELECT):
        reader = _SelectReader(text, file, written)
        selected, notices = reader.select(), tuple(reader.notices)
    if naming is None:
        return SelectText(selected, notices)
    alone, names = leave_out_qualifiers(selected, naming)
    return SelectText(alone, notices, names)


class _SelectReader:
    """Reads one text, and adds a notice for each part that it leaves out."""

    def __init__(self, text: str, file: str, written: ComputedTable | None) -> None:
        self._text, self._file, self._written = text, file, written
        bare = _TEMPLATE.sub(lambda match: spaces(match[0]), text)
        self._code, self._names = code_of(bare), code_and_names_of(bare)
        self.notices: list[QueryError] = []

    def select(self) -> str:
        """The text with spaces instead of everything but its SELECT."""
        ignored: list[tuple[int, int]] = []
        queries = 0
        for first, start, end in self._statements():
            if first in ("SET", "USE"):
                self._ignore(start, f"{first} is ignored: settings of Spark are the project's")
                ignored.append((start, end))
            else:
                ignored += self._headers(first, start, end)
                queries += 1
        if queries != 1:
            self.notices.clear()
            return self._text
        text = self._text
        for start, end in ignored:
            text = leave_out(text, start, end)
        return "".join(" " if self._code[at] == ";" else sign for at, sign in enumerate(text)) if ";" in text else text

    def _statements(self) -> Iterator[tuple[str, int, int]]:
        """Each statement's first word, its start and its end."""
        for match in _STATEMENT.finditer(self._code):
            first = next(words(self._code, match.start(), match.end()), None)
            if first is not None:
                yield first.text, first.start, match.end()

    def _headers(self, first: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The positions of the text before a statement's SELECT."""
        if first not in ("CREATE", "INSERT") and not _INSERT.search(self._code, start, end):
            return
        top = [word for word in words(self._code, start, end) if word.depth == 0]
        insert = next((word for word in top if word.text == "INSERT" and _INSERT.match(self._code, word.start)), None)
        if first == "FROM" and insert is not None:
            raise self._error(start, "FROM .. INSERT writes several tables", self._one_select(), "FROM .. INSERT")
        if insert is not None and first in ("INSERT", "WITH"):
            yield insert.start, self._insert(insert, end)
        elif _CREATE.match(self._code, start):
            yield start, self._create(start, top)

    def _insert(self, insert: SqlWord, end: int) -> int:
        """The position where the query of an INSERT begins."""
        into = _INTO.match(self._code, insert.end)
        target = _TARGET.match(self._names, into.end()) if into else None
        if into is None or target is None or target[1].upper() in ("DIRECTORY", "LOCAL"):
            raise self._error(insert.start, "an INSERT that writes no table", self._one_select())
        self._check_target(target)
        kind = "INSERT INTO" if into[1].upper() == "INTO" else "INSERT OVERWRITE"
        does = (
            "the slice replaces its partition, it appends nothing"
            if kind.endswith("INTO")
            else "the slice replaces its partition"
        )
        self._ignore(insert.start, f"{kind} {_plain(target[1])} is ignored: {does}; the SELECT names the columns")
        at = target.end()
        if partition := _PARTITION.match(self._code, at):
            at = self._closing(partition.end(), end)
            self._partition(self._text[partition.end() : at - 1], partition.end())
        if exists := _EXISTS.match(self._code, at):
            at = exists.end()
        return self._query_after(insert.start, at, end)

    def _create(self, start: int, top: Sequence[SqlWord]) -> int:
        """The position where the query of a CREATE TABLE begins."""
        header = _CREATE.match(self._code, start)
        target = _TARGET.match(self._names, header.end()) if header else None
        if target is None:
            raise self._error(start, "a CREATE TABLE without a name", self._one_select())
        self._check_target(target)
        kept = [word for word in top if word.start >= target.end()]
        for keyword, query in pairwise(kept):
            if keyword.text == "AS" and query.text in _QUERY:
                self._ignore(start, f"CREATE TABLE {_plain(target[1])} is ignored: the slice makes its table")
                return query.start
        raise self._error(start, "a CREATE TABLE without a query", self._one_select())

    def _query_after(self, start: int, at: int, end: int) -> int:
        following = list(words(self._code, at, end))
        first = following[0] if following else None
        if first is not None and first.text == "(" and following[1].text not in _QUERY:
            self._refuse_columns(first)
        if first is None or first.text not in _QUERY - {"VALUES", "TABLE"}:
            raise self._error(start, "an INSERT without a SELECT", self._one_select())
        return first.start

    def _refuse_columns(self, opening: SqlWord) -> None:
        listed = " ".join(self._text[opening.start : self._closing(opening.end, len(self._text))].split())
        raise self._error(
            opening.start,
            "a list of the target's columns",
            "columns that are named in the SELECT: SELECT a AS x",
            listed,
        )

    def _closing(self, start: int, end: int) -> int:
        """The position after the bracket that closes the one before `start`."""
        depth = 1
        for at in range(start, end):
            depth += {"(": 1, ")": -1}.get(self._code[at], 0)
            if depth == 0:
                return at + 1
        raise self._error(start - 1, "a bracket that nothing closes", ")")

    def _check_target(self, target: re.Match[str]) -> None:
        """Raises QueryError if the target is another table; an unclear name passes."""
        last = target[1].rpartition(".")[2].strip(" `\n\t") if "{{" not in target[1] else target[1]
        if self._written is None or _NO_NAME.search(last) or last.lower() == self._written.entity.lower():
            return
        raise self._error(
            target.start(1),
            "the statement writes another table than this file",
            f"{self._written.entity}, or a SELECT alone",
            _plain(target[1]),
            "name the file and its YAML after the table that it computes",
        )

    def _partition(self, clause: str, start: int) -> None:
        place = place_at(self._text, start)
        if self._written is not None:
            refuse_other_partition(clause, self._written, f"{self._file}:{place.line}:{place.column}")
        self._ignore(start, f"PARTITION ({_plain(clause)}) is ignored: the slice is the partition that is written")

    def _one_select(self) -> str:
        return f"one SELECT, of the rows of {self._written.entity}" if self._written else "one SELECT"

    def _ignore(self, position: int, message: str) -> None:
        place = place_at(self._text, position)
        self.notices.append(QueryError(message, where=f"{self._file}:{place.line}:{place.column}"))

    def _error(
        self, position: int, message: str, expected: str, said: str | None = None, hint: str | None = None
    ) -> QueryError:
        place = place_at(self._text, position)
        where = f"{self._file}:{place.line}:{place.column}"
        return QueryError(message, expected=expected, found=said, where=where, hint=hint)


def _plain(text: str) -> str:
    return " ".join(text.split())
