"""Reads a folder of declarations to entities. All problems are collected and reported at once.

An entity is a YAML file: its name is the file's, its layer the folder's. The query with the same name computes it. A
`project.yaml` has defaults for the files below it; the nearest one wins.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity import Entities
from tidemark.dependency_model.entity.entity_parser import parse_defaults, parse_table
from tidemark.dependency_model.entity.problem_line import put_line
from tidemark.dependency_model.lineage.partition_clause import value_on_slice
from tidemark.errors import EntityError, EntityErrors
from tidemark.quoting.spark import quote
from tidemark.system.garbage_collection import pause_collection
from tidemark.warehouse.declared_text import read_declared_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity

DEFAULTS_FILE: Final = "project.yaml"
_SUFFIX: Final = ".yaml"
_QUERY_SUFFIX: Final = ".sql"
_KINDS: Final = {_SUFFIX: "file", _QUERY_SUFFIX: "query"}


@dataclass(frozen=True)
class DeclaredFolder:
    """The valid entities below a folder, and the problems of the others.

    `queries` are paths of SQL files below the folder, by entity. `copies` are the queries of tables that copy rows of
    other systems, by entity.
    """

    entities: Entities
    problems: tuple[EntityError, ...]
    queries: Mapping[str, str]
    copies: Mapping[str, str]


def load_entities(root: Path) -> Entities:
    """Every entity below a folder. Raises EntityErrors with all problems."""
    folder = read_folder(root)
    if folder.problems:
        raise EntityErrors(folder.problems)
    return folder.entities


def read_folder(root: Path, defaults: Mapping[str, Any] = MappingProxyType({})) -> DeclaredFolder:
    """All declarations below a folder. `defaults` apply where no `project.yaml` has another value."""
    reading = _Reading()
    if root.is_dir():
        with pause_collection():
            reading.folder(str(root), "", defaults)
    else:
        reading.problems.append(EntityError("the folder of declarations does not exist", where=str(root)))
    return DeclaredFolder(Entities(reading.entities), tuple(reading.problems), reading.queries, reading.copies)


def locate(problem: EntityError, root: Path) -> None:
    """Adds the line to `problem.where`, if the file below `root` still contains the problem's word."""
    if problem.word is not None and problem.where is not None and (root / problem.where).is_file():
        put_line(problem, (root / problem.where).read_text(encoding="utf-8"))


class _Reading:
    """The entities, queries and problems that were read so far."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.problems: list[EntityError] = []
        self.queries: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def folder(self, folder: str, place: str, defaults: Mapping[str, Any]) -> None:
        """Reads everything below a folder. `place` is its path from the root with a trailing slash, or empty."""
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            if entry.name == DEFAULTS_FILE:
                defaults = {**defaults, **self._defaults(entry.path, f"{place}{entry.name}")}
        layer = place.rstrip("/").rpartition("/")[2]
        for entry in entries:
            kind = self._kind(entry, f"{place}{entry.name}")
            if kind == "folder":
                self.folder(entry.path, f"{place}{entry.name}/", defaults)
            elif kind == "query":
                self._query(f"{place}{entry.name}")
            elif kind == "file" and entry.name != DEFAULTS_FILE:
                self._file(entry.path, f"{place}{entry.name}", layer, defaults)

    def _kind(self, entry: os.DirEntry[str], place: str) -> str:
        """`folder`, `file` for a declaration, `query`, or empty.

        A broken link, or one to a parent folder, is a problem.
        """
        try:
            if entry.is_dir():
                if not (entry.is_symlink() and os.path.realpath(entry.path) in _above(entry.path)):
                    return "folder"
                self.problems.append(EntityError("the link leads back to one of its parent folders", where=place))
                return ""
            kind = _KINDS.get(entry.name[entry.name.rfind(".") :], "")
            if not kind or entry.is_file():
                return kind
            self.problems.append(EntityError("this is not a file", where=place))
        except OSError as error:
            self.problems.append(EntityError("cannot be read", found=error.strerror, where=place))
        return ""

    def _defaults(self, path: str, file: str) -> dict[str, Any]:
        try:
            values, problems = parse_defaults(read_declared_text(path, file), file)
        except EntityError as error:
            self.problems.append(error)
            return {}
        self.problems += problems
        return values

    def _query(self, file: str) -> None:
        name = file.rpartition("/")[2].removesuffix(_QUERY_SUFFIX)
        first = self.queries.setdefault(name, file)
        if first is not file:
            problem = f"the query of '{name}' stands in {first} already"
            self.problems.append(EntityError(problem, where=file, hint="the name must be unique"))

    def _file(self, path: str, file: str, layer: str, defaults: Mapping[str, Any]) -> None:
        name = file.rpartition("/")[2].removesuffix(_SUFFIX)
        try:
            declared = parse_table(read_declared_text(path, file), name, layer=layer, file=file, defaults=defaults)
        except EntityError as error:
            self.problems.append(error)
            return
        except EntityErrors as errors:
            self.problems.extend(errors.problems)
            return
        if self._add(declared.entity, file) and declared.outside is not None and self._add(declared.outside, file):
            self.copies[name] = _copy_query(declared.entity, declared.outside.name, declared.types)
            if any(declared.types.values()) and os.path.exists(f"{path.removesuffix(_SUFFIX)}{_QUERY_SUFFIX}"):  # noqa: PTH110
                hint = "cast them in the query, and name the columns alone: columns: [id, city]"
                self.problems.append(EntityError("its query says which types its columns have", where=file, hint=hint))

    def _add(self, entity: Entity, file: str) -> bool:
        """Adds an entity. Returns False, with a problem, if its name is already in use."""
        first = self._files.setdefault(entity.name, file)
        if first is not file:
            self.problems.append(EntityError(f"the entity '{entity.name}' is declared in {first} already", where=file))
            return False
        self.entities.append(entity)
        return True


def _copy_query(entity: Entity, outside: str, types: Mapping[str, str]) -> str:
    """The query of a copy: all rows of the other system's slice, or the declared columns in their types."""
    columns = ", ".join(
        f"CAST({quote(name)} AS {type_}) AS {quote(name)}" if type_ else quote(name) for name, type_ in types.items()
    )
    own = {column.name: value_on_slice(column, entity.period) for column in entity.times}
    own |= {part: f":{part}" for part in sorted(entity.sub_partitions)}
    where = " AND ".join(f"{quote(name)} = {value}" for name, value in own.items())
    return f"SELECT {columns or '*'} FROM {quote(outside)} WHERE {where}"  # noqa: S608 - quoted names, bound values


def _above(path: str) -> set[str]:
    """The resolved folders that contain a path."""
    folder = Path(path).parent.resolve()
    return {str(parent) for parent in (folder, *folder.parents)}
