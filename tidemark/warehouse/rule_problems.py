"""What is wrong with an entity's quality rules beside their keys: SQL that cannot be read, tables it does not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity.quality_rules import SLICE_ROWS, NoRows, QualityRule, Referential
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.project_sql import ProjectSql

_EXPRESSIONS: Final = ("where", "holds", "value")
"""Fields that are an expression of SQL."""
_SHOWN: Final = 200


@dataclass(frozen=True)
class _Wrong:
    """What is wrong with a field of a rule."""

    field: str
    message: str
    found: str
    hint: str | None = None


def rule_problems(entity: Entity, root: Path, sql: ProjectSql) -> Iterator[EntityError]:
    """Each problem with its file and line; the file is read again only where there is one."""
    for at, rule in enumerate(entity.quality):
        for wrong in (*_unread(entity, rule), *_wrong_sql(entity, rule, sql)):
            document = read_document((root / entity.file).read_text(encoding="utf-8"), entity.file)
            line = document.line(("quality", at, rule.NAME, wrong.field))
            yield EntityError(wrong.message, found=wrong.found, where=f"{entity.file}:{line}", hint=wrong.hint)


def _reads(entity: Entity) -> frozenset[str]:
    return frozenset(dependency.entity for state in entity.states for dependency in state.depends_on)


def _unread(entity: Entity, rule: QualityRule) -> Iterator[_Wrong]:
    if isinstance(rule, Referential) and rule.entity not in _reads(entity):
        hint = did_you_mean(rule.entity, _reads(entity)) or "declare the dependency: depends_on says which slices"
        yield _Wrong("entity", f"{entity.name} does not read that entity", rule.entity, hint)


def _wrong_sql(entity: Entity, rule: QualityRule, sql: ProjectSql) -> Iterator[_Wrong]:
    for field in _EXPRESSIONS:
        text = getattr(rule, field, None)
        if isinstance(text, str):
            yield from _wrong_text(entity, field, text)
    if isinstance(rule, NoRows):
        try:
            yield from _wrong_text(entity, "no_rows", sql.read(rule.no_rows, entity.file).means)
        except EntityError as error:
            yield _Wrong("no_rows", error.message, error.found or rule.no_rows[:_SHOWN], error.hint)


def _wrong_text(entity: Entity, field: str, text: str) -> Iterator[_Wrong]:
    import sqlglot  # noqa: PLC0415 - commands over projects without such rules load no parser
    from sqlglot import exp  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        trees = sqlglot.parse(f"SELECT {text}" if field in _EXPRESSIONS else text, dialect="spark")
    except SqlglotError as error:
        yield _Wrong(field, f"{field} is no SQL: {str(error).splitlines()[0]}", text[:_SHOWN])
        return
    tree = trees[0] if len(trees) == 1 else None
    if field in _EXPRESSIONS:
        clauses = {name for name, value in tree.args.items() if value} if isinstance(tree, exp.Select) else set()
        if clauses != {"expressions"} or tree is None or len(tree.expressions) != 1:
            yield _Wrong(field, f"{field} is not one expression", text[:_SHOWN])
    elif isinstance(tree, exp.Query):
        yield from _tables_not_read(entity, tree)
    else:
        yield _Wrong(field, f"{field} is not one query", text[:_SHOWN])


def _tables_not_read(entity: Entity, tree: Any) -> Iterator[_Wrong]:
    from sqlglot import exp  # noqa: PLC0415 - see above

    named = {cte.alias for cte in tree.find_all(exp.CTE)} | {SLICE_ROWS} | _reads(entity)
    for table in tree.find_all(exp.Table):
        if table.name not in named:
            hint = did_you_mean(table.name, named) or f"a rule's query reads {SLICE_ROWS} and what the entity reads"
            yield _Wrong("no_rows", f"{entity.name} does not read that table", table.name, hint)
