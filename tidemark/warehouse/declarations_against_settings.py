"""Where declarations contradict the settings of their project: told by `tidemark check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError
from tidemark.system.project_root import PROJECT_FILE
from tidemark.warehouse.entity_files import DEFAULTS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings


def project_problems(settings: Settings, entities: Iterable[Entity]) -> Iterator[EntityError]:
    """What the defaults of all declarations, or the folders where they lie, have against `tidemark.yaml`."""
    yield from _other_defaults(settings)
    for entity in entities:
        folder = entity.file.partition("/")[0] if "/" in entity.file else ""
        if folder and folder not in settings.layers:
            yield EntityError(
                f"the folder '{folder}' is no layer of this project",
                expected=f"one of {', '.join(settings.layers)}",
                where=entity.file,
                hint=did_you_mean(folder, settings.layers) or f"add it to `layers` in {PROJECT_FILE}",
            )


def _other_defaults(settings: Settings) -> Iterator[EntityError]:
    path = settings.declarations / DEFAULTS_FILE
    if not path.is_file():
        return
    try:
        document = read_document(path.read_text(encoding="utf-8"), DEFAULTS_FILE)
    except (EntityError, UnicodeDecodeError):  # told by who reads the declarations
        return
    values = document.values if isinstance(document.values, dict) else {}
    for key, expected in settings.declaration_defaults.items():
        if values.get(key, expected) != expected:
            yield EntityError(
                f"{key} differs from the project's",
                expected=f"{expected}, as {PROJECT_FILE} says",
                found=str(values[key]),
                where=f"{DEFAULTS_FILE}:{document.line((key,))}",
                hint=f"remove it here: {PROJECT_FILE} holds it for all declarations",
            )
