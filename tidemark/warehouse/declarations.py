"""The declarations of a folder: YAML and SQL together, each entity with the dependencies of its queries.

This must stay light: commands that only read the model import neither Dagster nor Spark, and no SQL parser if every
query is in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity import Entities, EntityKind
from tidemark.dependency_model.entity.quality_rules import Reconcile
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.lineage.business_time_parameters import parameter_names
from tidemark.dependency_model.lineage.computed_table import ComputedTable
from tidemark.dependency_model.lineage.declared_and_inferred import Agreement, agree_with_plan, agree_with_queries
from tidemark.dependency_model.lineage.declared_sql.view import used_views
from tidemark.dependency_model.lineage.qualified_names import Naming
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError, EntityErrors
from tidemark.system.garbage_collection import pause_collection
from tidemark.warehouse.declared_text import read_declared_text
from tidemark.warehouse.entity_files import read_folder
from tidemark.warehouse.function_code import analysed_text
from tidemark.warehouse.inference_cache import InferenceCache
from tidemark.warehouse.project_sql import ProjectSql
from tidemark.warehouse.python_function import PythonFunction, read_function
from tidemark.warehouse.query_text import QueryText
from tidemark.warehouse.rule_problems import RuleTexts
from tidemark.warehouse.views import read_views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.system.settings import Settings
    from tidemark.warehouse.entity_files import DeclaredFolder


@dataclass(frozen=True)
class Declarations:
    """`files` by entity. `problems` stop entities from being computed; `differences` are between YAML and SQL or plans.

    `unread` are entities with a function whose inputs are not known yet. `queries` are the texts that run: the SELECT
    of each file. `notices` are about ignored parts of files and about unexpectedly long waits. `views` are declared but
    are not entities: queries contain their text. `sql` has other names that queries may use.
    """

    entities: Mapping[str, Entity]
    queries: Mapping[str, str]
    files: Mapping[str, tuple[Path, ...]]
    functions: Mapping[str, PythonFunction]
    problems: tuple[EntityError, ...]
    differences: tuple[EntityError, ...]
    unread: frozenset[str] = frozenset()
    notices: tuple[EntityError, ...] = ()
    views: Mapping[str, Entity] = field(default_factory=dict)
    sql: ProjectSql = field(default_factory=lambda: ProjectSql(Naming({})))

    def with_differences(self, more: Iterable[EntityError]) -> Declarations:
        """A copy with more differences."""
        return replace(self, differences=(*self.differences, *more))

    def require_no_problems(self) -> Declarations:
        """Returns itself. Raises EntityErrors with all problems."""
        if self.problems:
            raise EntityErrors(self.problems)
        return self


@pause_collection()
def read_declarations(root: Path, settings: Settings, plans: InferenceCache | None = None) -> Declarations:
    """All declarations below a folder, with all problems.

    `plans` has the known inputs of Python functions, by default from the last check.
    """
    folder = read_folder(root, settings.declaration_defaults)
    declared, queries = folder.entities, {**_copies(folder, root), **folder.queries}
    views = {name: entity for name, entity in declared.items() if entity.kind is EntityKind.VIEW}
    entities = Entities(entity for name, entity in declared.items() if name not in views)
    with InferenceCache.of(root, settings) as cache:
        sql, of_views = read_views(root, views, queries, ProjectSql.of(declared, settings))
        problems = [*folder.problems, *of_views]
        so_far = _ReadSoFar(root, entities, dict(entities.items()), problems, sql, views, folder.copies)
        so_far.check_views(cache)
        texts_by_name = {
            name: texts
            for name, file in queries.items()
            if name not in views and (texts := so_far.read_query(name, file))
        }
        for name, reads in cache.reads_of_all(texts_by_name, entities).items():
            so_far.compare(name, reads)
    with plans or InferenceCache.of(root, settings, kind="plans") as known:
        for name, path in _python_files(root, entities, queries):
            so_far.read_function(name, path, known)
    rules = RuleTexts.of(root, settings)
    declarations = so_far.declarations(rules)
    rules.write()
    return declarations


@dataclass
class _ReadSoFar:
    """`entities` are as in YAML; in `agreed` they also have the inputs of their queries, as far as these were read."""

    root: Path
    entities: Mapping[str, Entity]
    agreed: dict[str, Entity]
    problems: list[EntityError]
    sql: ProjectSql
    views: Mapping[str, Entity]
    copies: Mapping[str, str]
    notices: list[EntityError] = field(default_factory=list)
    differences: list[EntityError] = field(default_factory=list)
    queries: dict[str, str] = field(default_factory=dict)
    functions: dict[str, PythonFunction] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    def check_views(self, cache: InferenceCache) -> None:
        """Checks views, so that problems of unused views are reported, too."""
        for name, view in self.sql.views.items():
            text = QueryText(view.means, view.file, names=view.names)
            try:
                used = tuple(used_views(view.means, self.sql.views))
                cache.reads(self.views[name], [replace(text, views=used)], self.entities)
            except EntityError as error:
                self._tell(error)

    def _tell(self, problem: EntityError) -> None:
        """Adds a problem once: every query with a view has the view's problems.

        A table whose declaration cannot be read is unknown to its readers, and is a problem already.
        """
        is_unknown = problem.message == "unknown table" and problem.found not in self.entities
        if is_unknown and self._is_declared(str(problem.found).lower()):
            return
        if (problem.where, problem.message) not in {(told.where, told.message) for told in self.problems}:
            self.problems.append(problem)

    def read_query(self, name: str, file: str) -> list[QueryText]:
        """An entity's SQL and that of its rules; empty, with a problem, if it cannot be analysed."""
        self.files[name], self.queries[name] = self.root / file, ""
        entity = self.entities.get(name)
        if entity is None:
            if not self._is_declared(name):  # an unreadable declaration is a problem already
                self.differences.append(_undeclared_query_error(file, name))
            return []
        try:
            is_copy = file == entity.file
            self.queries[name] = self.copies[name] if is_copy else read_declared_text(self.files[name], file)
            read = self.sql.read(self.queries[name], file, _written(entity))
            self.queries[name] = read.runs
            self.notices += read.notices
            of_rules = [*_of_rules(entity, self.root, self.sql)]
        except EntityError as error:
            self._tell(error)
            return []
        return [QueryText(read.means, file, names=read.names, views=read.views), *of_rules]

    def compare(self, name: str, reads: dict[str, Read] | EntityError) -> None:
        """Compares the inputs of an entity's SQL with its declaration."""
        if isinstance(reads, EntityError):
            self._tell(reads)
            return
        try:
            agreement = agree_with_queries(self.entities[name], reads, self.entities)
        except EntityError as error:
            self._tell(error)
            return
        entity = self.entities[name]
        stated = {needed.entity for state in entity.states for needed in state.depends_on}
        in_yaml = (table for table, read in reads.items() if read.where.startswith(f"{entity.file}:"))
        of_rules = frozenset(in_yaml) - stated if name not in self.copies else frozenset[str]()
        self._agree(name, replace(agreement, entity=replace(agreement.entity, rule_inputs=of_rules)))
        self.problems += agreement.missing

    def read_function(self, name: str, path: Path, known: InferenceCache) -> None:
        """Reads an entity's Python function."""
        try:
            function, reads, agreement = _of_function(self.entities[name], path, self.root, known, self.entities)
        except EntityError as error:
            self.problems.append(error)
            return
        self._agree(name, agreement)
        self.functions[name], self.files[name] = function, path
        self.unread |= {name} if reads is None else set()

    def declarations(self, rules: RuleTexts) -> Declarations:
        """All entities and problems, with the problems of rules."""
        written = {
            name: tuple(dict.fromkeys(path for path in (self.files.get(name), self.root / entity.file) if path))
            for name, entity in self.agreed.items()
        }
        of_rules = (
            problem for entity in self.agreed.values() for problem in rules.problems(entity, self.root, self.sql)
        )
        problems, differences = (*self.problems, *of_rules), tuple(self.differences)
        return Declarations(
            self.agreed,
            self.queries,
            written,
            self.functions,
            problems,
            differences,
            frozenset(self.unread),
            tuple(self.notices),
            self.views,
            self.sql,
        )

    def _agree(self, name: str, agreement: Agreement) -> None:
        self.agreed[name] = _computed(agreement.entity)
        self.differences += agreement.differences
        self.notices += agreement.notices

    def _is_declared(self, name: str) -> bool:
        return any(path.stem == name for path in self.root.rglob("*.yaml"))


def _copies(folder: DeclaredFolder, root: Path) -> dict[str, str]:
    """Tables that copy rows of other systems without a function of their own, with the file of the declaration."""
    files = {name: folder.entities[name].file for name in folder.copies}
    return {name: file for name, file in files.items() if not (root / file).with_suffix(".py").is_file()}


def _computed(entity: Entity) -> Entity:
    """Marks a static entity as computed here."""
    return replace(entity, computed=True) if entity.is_static else entity


def _python_files(root: Path, entities: Mapping[str, Entity], queries: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Entities with a Python file beside their YAML, and without a query."""
    for name, entity in entities.items():
        if name in queries:
            continue
        path = (root / entity.file).with_name(f"{name}.py")
        if path.is_file():
            yield name, path


def _of_function(
    entity: Entity, path: Path, root: Path, plans: InferenceCache, entities: Mapping[str, Entity]
) -> tuple[PythonFunction, dict[str, Read] | None, Agreement]:
    """An entity's function, its known inputs, and the entity with its inputs. Raises EntityError."""
    function = read_function(path, path.relative_to(root).as_posix())
    _refuse_unknown_names(entity, function, entities)
    reads = plans.look_up(entity, [analysed_text(function)], entities)
    return function, reads, agree_with_plan(entity, function.tables, function.where, reads, entities)


def _refuse_unknown_names(entity: Entity, function: PythonFunction, entities: Mapping[str, Entity]) -> None:
    """Raises EntityError for a parameter that is neither a table nor business time."""
    known = parameter_names(entity.period)
    for name, options, what in (
        *((name, entities, "table") for name in function.tables),
        *((name, known, "parameter") for name in function.parameters),
    ):
        if name not in options:
            place = function.places[name]
            raise EntityError(f"unknown {what}", found=name, where=place, hint=did_you_mean(name, options))


def _undeclared_query_error(file: str, name: str) -> EntityError:
    return EntityError("this query has no declaration", where=file, hint=f"write {name}.yaml, or remove the query")


def _written(entity: Entity) -> ComputedTable:
    columns = (*(column.name for column in entity.times), *sorted(entity.sub_partitions))
    return ComputedTable(entity.name, columns, entity.period, entity.times)


def _of_rules(entity: Entity, root: Path, sql: ProjectSql) -> Iterator[QueryText]:
    """The queries that quality rules compare with."""
    declared = {"quality": entity.quality, "quality_on_anomaly": entity.quality_on_anomaly}
    rules = [
        (key, at, rule)
        for key, rules in declared.items()
        for at, rule in enumerate(rules)
        if isinstance(rule, Reconcile)
    ]
    if not rules:
        return
    document = read_document((root / entity.file).read_text(encoding="utf-8"), entity.file)
    for key, at, rule in rules:
        line = document.line((key, at, "reconcile", "equals"))
        read = sql.read(rule.equals, entity.file)
        yield QueryText(read.means, entity.file, line, read.names, read.views)
