"""A folder of YAML files to a catalog: everything that is wrong is collected and said at once.

An entity is a file; its name is the file's, its layer the folder's. A `project.yaml` holds defaults for what lies below
it, and the nearest one wins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tidemark.dependency_model.entity.catalog import Catalog
from tidemark.dependency_model.entity.declaration import declared, problems_in
from tidemark.dependency_model.entity.document import SIZE_LIMIT, read_document
from tidemark.dependency_model.entity.plain import read_plain
from tidemark.dependency_model.entity.rules import broken_rules
from tidemark.dependency_model.errors import EntityError, EntityErrors
from tidemark.dependency_model.garbage import collection_paused
from tidemark.dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity.entity import Entity

DEFAULTS_FILE = "project.yaml"
DEFAULT_KEYS = ("time_zone", "week_start", "start", "end", "owner", "tags", "reprocess", "project")
_SUFFIX = ".yaml"
_FIRST_READ = 8192


def load_entities(root: Path) -> Catalog:
    """Every entity below a folder. Raises EntityErrors with all that is wrong."""
    catalog, problems = read_entities(root)
    if problems:
        raise EntityErrors(problems)
    return catalog


def read_entities(root: Path) -> tuple[Catalog, list[EntityError]]:
    """The entities below a folder that can be read, and what is wrong with the others."""
    reading = _Reading()
    if root.is_dir():
        with collection_paused():
            reading.folder(str(root), "", {})
    else:
        reading.found.append(EntityError("no such folder of declarations", where=str(root)))
    return Catalog(reading.entities), reading.found


def parse_entity(
    text: str, name: str, *, layer: str = "", file: str = "", defaults: Mapping[str, Any] | None = None
) -> Entity:
    """The entity of one YAML text. Raises EntityErrors."""
    try:
        return _read(text, {**(defaults or {}), "name": name, "layer": layer, "file": file or f"{name}{_SUFFIX}"})
    except EntityError as error:
        raise EntityErrors([error]) from error


def _read(text: str, below: Mapping[str, Any]) -> Entity:
    """The entity of a text. Raises EntityError where it is no document, EntityErrors for what is wrong in it."""
    values = read_plain(text)
    if values is not None:
        entity = _entity(values, below)
        if entity is not None:
            return entity
    document = read_document(text, below["file"])
    entity = _entity(document.values, below)
    if entity is None:
        raise EntityErrors(list(problems_in(document, below["file"], below)))
    return entity


def _entity(values: Any, below: Mapping[str, Any]) -> Entity | None:
    """The entity, or None where something is wrong with it."""
    if not (values is None or isinstance(values, dict)) or (values and ("layer" in values or "file" in values)):
        return None
    try:
        entity = declared(values, below)
    except ValidationError:
        return None
    return None if any(broken_rules(entity)) else entity


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.found: list[EntityError] = []
        self._files: dict[str, str] = {}

    def folder(self, folder: str, place: str, defaults: Mapping[str, Any]) -> None:
        """Everything below a folder; `place` is its way from the root, with a slash behind it, or empty."""
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            if entry.name == DEFAULTS_FILE:
                defaults = {**defaults, **self._defaults(entry.path, f"{place}{entry.name}")}
        below = {**defaults, "layer": place.rstrip("/").rpartition("/")[2]}
        for entry in entries:
            if entry.is_dir():
                self.folder(entry.path, f"{place}{entry.name}/", defaults)
            elif entry.name.endswith(_SUFFIX) and entry.name != DEFAULTS_FILE:
                self._file(entry.path, f"{place}{entry.name}", below)

    def _defaults(self, path: str, file: str) -> dict[str, Any]:
        try:
            document = read_document(_text(path, file), file)
        except EntityError as error:
            self.found.append(error)
            return {}
        values = document.values or {}
        for key in values:
            if key not in DEFAULT_KEYS:
                expected, hint = f"one of {', '.join(DEFAULT_KEYS)}", did_you_mean(str(key), DEFAULT_KEYS)
                where = f"{file}:{document.line((key,))}"
                self.found.append(EntityError(f"unknown default '{key}'", expected=expected, where=where, hint=hint))
        return {key: value for key, value in values.items() if key in DEFAULT_KEYS}

    def _file(self, path: str, file: str, defaults: Mapping[str, Any]) -> None:
        name = file.rpartition("/")[2].removesuffix(_SUFFIX)
        try:
            entity = _read(_text(path, file), {**defaults, "name": name, "file": file})
        except EntityError as error:
            self.found.append(error)
            return
        except EntityErrors as errors:
            self.found.extend(errors.problems)
            return
        first = self._files.setdefault(entity.name, file)
        if first is not file:
            self.found.append(EntityError(f"the entity '{entity.name}' is declared in {first} already", where=file))
            return
        self.entities.append(entity)


def _text(path: str, file: str) -> str:
    """A file's text. Raises EntityError where it is too long or not UTF-8."""
    opened = os.open(path, os.O_RDONLY)  # of very many files, half the time that Path.read_text takes
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
