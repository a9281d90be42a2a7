"""A folder of YAML files to a catalog: everything that is wrong is collected and said at once.

An entity is a file; its name is the file's, its layer the folder's. A `project.yaml` holds defaults for what lies below
it, and the nearest one wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dependency_model.entity.catalog import Catalog
from dependency_model.entity.declaration import declared, problems_in
from dependency_model.entity.document import read_document
from dependency_model.entity.rules import broken_rules
from dependency_model.errors import EntityError, EntityErrors
from dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dependency_model.entity.entity import Entity

DEFAULTS_FILE = "project.yaml"
DEFAULT_KEYS = ("time_zone", "week_start", "start", "owner", "tags", "reprocess", "project")
_SUFFIX = ".yaml"


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
        reading.folder(root, root, {})
    else:
        reading.found.append(EntityError("no such folder of declarations", where=str(root)))
    return Catalog(reading.entities), reading.found


def parse_entity(
    text: str, name: str, *, layer: str = "", file: str = "", defaults: Mapping[str, Any] | None = None
) -> Entity:
    """The entity of one YAML text. Raises EntityErrors."""
    file = file or f"{name}{_SUFFIX}"
    below = {**(defaults or {}), "name": name, "layer": layer, "file": file}
    try:
        document = read_document(text, file)
    except EntityError as error:
        raise EntityErrors([error]) from error
    found = _entity(document.values, below)
    if found is None:
        raise EntityErrors(list(problems_in(document, file, below)))
    return found


def _entity(values: Any, defaults: Mapping[str, Any]) -> Entity | None:
    """The entity, or None where something is wrong with it."""
    if not (values is None or isinstance(values, dict)) or (values and ("layer" in values or "file" in values)):
        return None
    try:
        entity = declared(values, defaults)
    except ValidationError:
        return None
    return None if any(broken_rules(entity)) else entity


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.found: list[EntityError] = []
        self._files: dict[str, str] = {}

    def folder(self, folder: Path, root: Path, defaults: Mapping[str, Any]) -> None:
        entries = sorted(folder.iterdir())
        own = folder / DEFAULTS_FILE
        if own in entries:
            defaults = {**defaults, **self._defaults(own, root)}
        for entry in entries:
            if entry.is_dir():
                self.folder(entry, root, defaults)
            elif entry.suffix == _SUFFIX and entry != own:
                self._file(entry, root, defaults)

    def _defaults(self, path: Path, root: Path) -> dict[str, Any]:
        file = path.relative_to(root).as_posix()
        try:
            document = read_document(path.read_text(encoding="utf-8"), file)
        except EntityError as error:
            self.found.append(error)
            return {}
        values = document.values or {}
        for key in values:
            if key not in DEFAULT_KEYS:
                self.found.append(
                    EntityError(
                        f"unknown default '{key}'",
                        expected=f"one of {', '.join(DEFAULT_KEYS)}",
                        where=f"{file}:{document.line((key,))}",
                        hint=did_you_mean(str(key), DEFAULT_KEYS),
                    )
                )
        return {key: value for key, value in values.items() if key in DEFAULT_KEYS}

    def _file(self, path: Path, root: Path, defaults: Mapping[str, Any]) -> None:
        file = path.relative_to(root).as_posix()
        layer = path.parent.name if path.parent != root else ""
        try:
            entity = parse_entity(
                path.read_text(encoding="utf-8"), path.stem, layer=layer, file=file, defaults=defaults
            )
        except EntityErrors as errors:
            self.found.extend(errors.problems)
            return
        if entity.name in self._files:
            self.found.append(
                EntityError(f"the entity '{entity.name}' is declared in {self._files[entity.name]} already", where=file)
            )
            return
        self._files[entity.name] = file
        self.entities.append(entity)
