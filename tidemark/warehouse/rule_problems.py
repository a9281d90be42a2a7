"""Problems of quality rules besides their keys: invalid SQL, and tables that the entity does not read."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.dependency_model.entity.quality_rules import SLICE_ROWS, NoRows, QualityRule, Referential
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError
from tidemark.strict_json import json_text
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot.errors import SqlglotError

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings
    from tidemark.warehouse.project_sql import ProjectSql

_EXPRESSIONS: Final = ("where", "holds", "value")
"""Fields with an SQL expression."""
_SHOWN: Final = 200


@dataclass(frozen=True)
class _Wrong:
    """A problem of a field of a rule."""

    field: str
    message: str
    found: str
    hint: str | None = None


@dataclass
class RuleTexts:
    """The valid SQL of rules, cached between processes, so that no parser is loaded for it again."""

    path: Path | None
    _old: dict[str, Any] = field(default_factory=dict)
    _right: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, settings: Settings) -> Self:
        """The cache of a folder of declarations."""
        path = cache_path("rules", root, settings)
        return cls(path, read_cache(path))

    def problems(self, entity: Entity, root: Path, sql: ProjectSql) -> Iterator[EntityError]:
        """Each problem with its file and line. The file is only read for a problem."""
        for at, rule in enumerate(entity.quality):
            for wrong in (*_unread(entity, rule), *self._wrong_sql(entity, rule, sql)):
                document = read_document((root / entity.file).read_text(encoding="utf-8"), entity.file)
                line = document.line(("quality", at, rule.NAME, wrong.field))
                yield EntityError(wrong.message, found=wrong.found, where=f"{entity.file}:{line}", hint=wrong.hint)

    def write(self) -> None:
        """Writes the cache."""
        if self._right != self._old:
            write_cache(self.path, self._right)

    def _wrong_sql(self, entity: Entity, rule: QualityRule, sql: ProjectSql) -> Iterator[_Wrong]:
        for name in _EXPRESSIONS:
            text = getattr(rule, name, None)
            if isinstance(text, str):
                yield from self._wrong_text(entity, name, text)
        if isinstance(rule, NoRows):
            try:
                yield from self._wrong_text(entity, "no_rows", sql.read(rule.no_rows, entity.file).means)
            except EntityError as error:
                yield _Wrong("no_rows", error.message, error.found or rule.no_rows[:_SHOWN], error.hint)

    def _wrong_text(self, entity: Entity, name: str, text: str) -> Iterator[_Wrong]:
        told = json_text([_code_version(), name, text, sorted(_reads(entity))])
        key = hashlib.sha256(told.encode()).hexdigest()
        wrong = () if key in self._old else tuple(_wrong_text(entity, name, text))
        if not wrong:
            self._right[key] = True
        yield from wrong


@lru_cache
def _code_version() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _reads(entity: Entity) -> frozenset[str]:
    return frozenset(dependency.entity for state in entity.states for dependency in state.depends_on)


def _unread(entity: Entity, rule: QualityRule) -> Iterator[_Wrong]:
    if isinstance(rule, Referential) and rule.entity not in _reads(entity):
        hint = did_you_mean(rule.entity, _reads(entity)) or "declare the slices under depends_on"
        yield _Wrong("entity", f"{entity.name} does not read that entity", rule.entity, hint)


def _wrong_text(entity: Entity, name: str, text: str) -> Iterator[_Wrong]:
    import sqlglot  # noqa: PLC0415 - a text that was right before loads no parser
    from sqlglot import exp  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        trees = sqlglot.parse(f"SELECT {text}" if name in _EXPRESSIONS else text, dialect="spark")
    except SqlglotError as error:
        yield _unreadable(name, text, error)
        return
    tree = trees[0] if len(trees) == 1 else None
    if name in _EXPRESSIONS:
        clauses = {clause for clause, value in tree.args.items() if value} if isinstance(tree, exp.Select) else set()
        if clauses != {"expressions"} or tree is None or len(tree.expressions) != 1:
            yield _Wrong(name, f"{name} is not one expression", text[:_SHOWN])
    elif isinstance(tree, exp.Query):
        yield from _tables_not_read(entity, tree)
    else:
        yield _Wrong(name, f"{name} is not one query", text[:_SHOWN])


def _unreadable(name: str, text: str, error: SqlglotError) -> _Wrong:
    """The parser's problem, and a mark before the word where it stopped."""
    details: list[dict[str, Any]] = getattr(error, "errors", [])
    if not details:  # a quote without its end
        return _Wrong(name, f"{name} is not SQL: a quote or a comment has no end", text[:_SHOWN])
    first = details[0]
    told = re.sub(r"^Required keyword.*", "an operand is missing", first["description"])
    told = told.removeprefix("Invalid expression / ")
    message = re.sub(r" but got <.*", "", told).rstrip(".")
    before = f"{first['start_context']}".removeprefix("SELECT " if name in _EXPRESSIONS else "")
    place = f"{before[-_SHOWN:]}>>>{first['highlight']}<<<{first['end_context'][:_SHOWN]}"
    return _Wrong(name, f"{name} is not SQL: {message[:1].lower()}{message[1:]}", place)


def _tables_not_read(entity: Entity, tree: Any) -> Iterator[_Wrong]:
    from sqlglot import exp  # noqa: PLC0415 - see above

    named = {cte.alias for cte in tree.find_all(exp.CTE)} | {SLICE_ROWS} | _reads(entity)
    for table in tree.find_all(exp.Table):
        if table.name not in named:
            hint = did_you_mean(table.name, named) or f"a rule's query reads {SLICE_ROWS} and what the entity reads"
            yield _Wrong("no_rows", f"{entity.name} does not read that table", table.name, hint)
