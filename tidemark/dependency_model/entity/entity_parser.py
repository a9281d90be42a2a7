"""The text of one YAML file to an entity, or to defaults of other entities: all that is wrong in it is said at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tidemark.dependency_model.entity.consistency import broken_rules
from tidemark.dependency_model.entity.entity_from_values import INTERNAL, entity_of, problems_in
from tidemark.dependency_model.entity.fast_plain_yaml import read_plain
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError, EntityErrors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity.entity import Entity

DEFAULT_KEYS = (
    "time_zone",
    "week_start",
    "holidays",
    "start",
    "end",
    "owner",
    "notify",
    "tags",
    "reprocess",
    "project",
    "partition_columns",
)


def parse_entity(
    text: str, name: str, *, layer: str = "", file: str = "", defaults: Mapping[str, Any] | None = None
) -> Entity:
    """The entity of one YAML text. Raises EntityErrors."""
    try:
        return _read(text, {**(defaults or {}), "name": name, "layer": layer, "file": file or f"{name}.yaml"})
    except EntityError as error:
        raise EntityErrors([error]) from error


def parse_defaults(text: str, file: str) -> tuple[dict[str, Any], list[EntityError]]:
    """The defaults of one YAML text, and its unknown keys. Raises EntityError where it is no document."""
    document = read_document(text, file)
    values = document.values or {}
    problems = [_unknown_default(key, f"{file}:{document.line((key,))}") for key in values if key not in DEFAULT_KEYS]
    return {key: value for key, value in values.items() if key in DEFAULT_KEYS}, problems


def _unknown_default(key: object, where: str) -> EntityError:
    expected, hint = f"one of {', '.join(DEFAULT_KEYS)}", did_you_mean(str(key), DEFAULT_KEYS)
    return EntityError(f"unknown default '{key}'", expected=expected, where=where, hint=hint)


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
    if not (values is None or isinstance(values, dict)) or (values and not INTERNAL.isdisjoint(values)):
        return None
    try:
        entity = entity_of(values, below)
    except ValidationError:
        return None
    return None if any(broken_rules(entity)) else entity
