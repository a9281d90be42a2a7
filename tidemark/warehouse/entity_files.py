"""A folder of YAML files to entities: everything that is wrong is collected and said at once.

An entity is a file; its name is the file's, its layer the folder's. A `project.yaml` holds defaults for what lies below
it, and the nearest of them wins.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity import Entities, parse_entity
from tidemark.dependency_model.entity.entity_parser import parse_defaults
from tidemark.dependency_model.entity.problem_line import put_line
from tidemark.dependency_model.entity.yaml_document import SIZE_LIMIT
from tidemark.errors import EntityError, EntityErrors
from tidemark.system.garbage_collection import pause_collection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity

DEFAULTS_FILE: Final = "project.yaml"
_SUFFIX: Final = ".yaml"
_FIRST_READ: Final = 8192


def load_entities(root: Path) -> Entities:
    """Every entity below a folder. Raises EntityErrors with all that is wrong."""
    entities, problems = read_entities(root)
    if problems:
        raise EntityErrors(problems)
    return entities


def read_entities(root: Path, defaults: Mapping[str, Any] = MappingProxyType({})) -> tuple[Entities, list[EntityError]]:
    """The entities below a folder that can be read, and what is wrong with the others.

    `defaults` hold where no `project.yaml` says otherwise.
    """
    reading = _Reading()
    if root.is_dir():
        with pause_collection():
            reading.folder(str(root), "", defaults)
    else:
        reading.problems.append(EntityError("no such folder of declarations", where=str(root)))
    return Entities(reading.entities), reading.problems


def locate(problem: EntityError, root: Path) -> None:
    """Put the line into `problem.where`, where the file below `root` still holds the problem's word."""
    if problem.word is not None and problem.where is not None and (root / problem.where).is_file():
        put_line(problem, (root / problem.where).read_text(encoding="utf-8"))


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.problems: list[EntityError] = []
        self._files: dict[str, str] = {}

    def folder(self, folder: str, place: str, defaults: Mapping[str, Any]) -> None:
        """Everything below a folder; `place` is its way from the root, with a slash behind it, or empty."""
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
            elif kind == "file" and entry.name != DEFAULTS_FILE:
                self._file(entry.path, f"{place}{entry.name}", layer, defaults)

    def _kind(self, entry: os.DirEntry[str], place: str) -> str:
        """`folder`, `file` of a declaration, or empty; a link that leads nowhere, or back, is a problem."""
        try:
            if entry.is_dir():
                if not (entry.is_symlink() and os.path.realpath(entry.path) in _above(entry.path)):
                    return "folder"
                self.problems.append(EntityError("the link leads back to a folder that it is in", where=place))
                return ""
            if not entry.name.endswith(_SUFFIX) or entry.is_file():
                return "file" if entry.name.endswith(_SUFFIX) else ""
            self.problems.append(EntityError("this is no file", where=place))
        except OSError as error:
            self.problems.append(EntityError("cannot be read", found=error.strerror, where=place))
        return ""

    def _defaults(self, path: str, file: str) -> dict[str, Any]:
        try:
            values, problems = parse_defaults(_text(path, file), file)
        except EntityError as error:
            self.problems.append(error)
            return {}
        self.problems += problems
        return values

    def _file(self, path: str, file: str, layer: str, defaults: Mapping[str, Any]) -> None:
        name = file.rpartition("/")[2].removesuffix(_SUFFIX)
        try:
            entity = parse_entity(_text(path, file), name, layer=layer, file=file, defaults=defaults)
        except EntityError as error:
            self.problems.append(error)
            return
        except EntityErrors as errors:
            self.problems.extend(errors.problems)
            return
        first = self._files.setdefault(entity.name, file)
        if first is not file:
            self.problems.append(EntityError(f"the entity '{entity.name}' is declared in {first} already", where=file))
            return
        self.entities.append(entity)


def _above(path: str) -> set[str]:
    """The real folders that a path is in."""
    folder = Path(path).parent.resolve()
    return {str(parent) for parent in (folder, *folder.parents)}


def _text(path: str, file: str) -> str:
    """A file's text. Raises EntityError where it cannot be read, is too long or not UTF-8."""
    try:
        opened = os.open(path, os.O_RDONLY)  # of very many files, half the time that Path.read_text takes
    except OSError as error:
        raise EntityError("cannot be read", found=error.strerror, where=file) from error
    try:
        content = os.read(opened, _FIRST_READ)
        if len(content) == _FIRST_READ:
            content += os.read(opened, 4 * SIZE_LIMIT)
    finally:
        os.close(opened)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise EntityError("this is no UTF-8", found=f"byte {error.start}", where=file) from error
