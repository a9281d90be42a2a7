"""The declarations of a folder: YAML and SQL read together, each entity with the dependencies that its queries have.

Light on purpose: commands that only look at the model import neither Dagster nor Spark, and where every query was
analysed before, no SQL parser either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dependency_model.entity import Dependency, Entity, EntityState, read_entities
from dependency_model.entity.dependency import COMPLETED
from dependency_model.entity.document import read_document
from dependency_model.entity.quality import Reconcile
from dependency_model.errors import EntityError, EntityErrors
from dependency_model.lineage.agreement import Agreement, agreed
from dependency_model.lineage.business_times import parameter_names
from dependency_model.lineage.read import Read
from dependency_model.suggestion import did_you_mean
from warehouse_assets.inference_cache import InferenceCache, QueryText
from warehouse_assets.python_function import PythonFunction, read_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from resources.settings import Settings


@dataclass(frozen=True)
class Declarations:
    """`files` by entity; `problems` keep entities from being computed; `differences` are YAML against SQL."""

    entities: Mapping[str, Entity]
    queries: Mapping[str, str]
    files: Mapping[str, tuple[Path, ...]]
    functions: Mapping[str, PythonFunction]
    problems: tuple[EntityError, ...]
    differences: tuple[EntityError, ...]

    def checked(self) -> Declarations:
        """Themselves. Raises EntityErrors with all problems."""
        if self.problems:
            raise EntityErrors(self.problems)
        return self


def read_declarations(root: Path, settings: Settings) -> Declarations:
    """Everything that is declared below a folder, and all that is wrong with it."""
    catalog, problems = read_entities(root)
    files = {path.stem: path for path in sorted(root.rglob("*.sql"))}
    queries = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    found, differences = dict(catalog.items()), list[EntityError]()
    with InferenceCache.of(root, settings) as cache:
        for name, path in files.items():
            entity = catalog.get(name)
            if entity is None:
                differences.append(_undeclared(path.relative_to(root).as_posix(), name))
                continue
            texts = _texts(entity, QueryText(queries[name], path.relative_to(root).as_posix()), root)
            try:
                agreement = agreed(entity, cache.reads(entity, texts, catalog), catalog)
            except EntityError as error:
                problems.append(error)
                continue
            found[name] = agreement.entity
            problems += agreement.missing
            differences += agreement.differences
    functions = {}
    for name, path in _python_files(root, catalog, files):
        try:
            function = read_function(path, path.relative_to(root).as_posix())
            agreement = _of_function(catalog[name], function, catalog)
        except EntityError as error:
            problems.append(error)
            continue
        functions[name], found[name] = function, agreement.entity
        differences += agreement.differences
        files[name] = path
    written = {
        name: tuple(path for path in (files.get(name), root / entity.file) if path) for name, entity in found.items()
    }
    return Declarations(found, queries, written, functions, tuple(problems), tuple(differences))


def _python_files(
    root: Path, entities: Mapping[str, Entity], queries: Mapping[str, Path]
) -> Iterator[tuple[str, Path]]:
    """Entities with a Python file beside their YAML, and no query."""
    for name, entity in entities.items():
        path = (root / entity.file).with_suffix(".py")
        if name not in queries and path.is_file():
            yield name, path


def _of_function(entity: Entity, function: PythonFunction, entities: Mapping[str, Entity]) -> Agreement:
    """The entity with its function's tables, at the natural offset or what YAML states. Raises EntityError."""
    known = parameter_names(entity.period)
    for name, options, what in (
        *((name, entities, "table") for name in function.tables),
        *((name, known, "parameter") for name in function.parameters),
    ):
        if name not in options:
            raise EntityError(f"unknown {what}", found=name, where=function.where, hint=did_you_mean(name, options))
    stated = {one.entity for one in entity.depends_on}
    open_reads = {
        name: Read(name, function.where, undecidable="a function states no offset")
        for name in function.tables
        if name in stated
    }
    found = agreed(entity, open_reads, entities)
    more = tuple(Dependency(name) for name in function.tables if name not in stated)
    completed = EntityState(COMPLETED, (*found.entity.depends_on, *more))
    others = tuple(state for state in found.entity.states if state.entity_state != COMPLETED)
    return replace(found, entity=replace(found.entity, states=(*others, completed)))


def _undeclared(file: str, name: str) -> EntityError:
    return EntityError("no declaration beside this query", where=file, hint=f"write {name}.yaml, or take it away")


def _texts(entity: Entity, query: QueryText, root: Path) -> list[QueryText]:
    return [query, *_of_rules(entity, root)]


def _of_rules(entity: Entity, root: Path) -> Iterator[QueryText]:
    """The queries that quality rules compare with."""
    rules = [(at, rule) for at, rule in enumerate(entity.quality) if isinstance(rule, Reconcile)]
    if not rules:
        return
    document = read_document((root / entity.file).read_text(encoding="utf-8"), entity.file)
    for at, rule in rules:
        yield QueryText(rule.equals, entity.file, document.line(("quality", at, "reconcile", "equals")))
