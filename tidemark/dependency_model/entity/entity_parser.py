"""Parses one YAML file to an entity, or to defaults of other entities. All errors of a file are reported at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tidemark.dependency_model.entity.consistency import broken_rules
from tidemark.dependency_model.entity.copied_source import (
    DeclaredTable,
    is_copied,
    outside_document,
    outside_values,
    table_values,
    types_of,
    wrong_types,
)
from tidemark.dependency_model.entity.entity_from_values import INTERNAL, entity_of, problems_in
from tidemark.dependency_model.entity.fast_plain_yaml import read_plain
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError, EntityErrors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.entity.yaml_document import Document

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
    "read_by",
)


def parse_entity(
    text: str, name: str, *, layer: str = "", file: str = "", defaults: Mapping[str, Any] | None = None
) -> Entity:
    """The entity of one YAML text; for a copy, the table. Raises EntityErrors."""
    return parse_table(text, name, layer=layer, file=file, defaults=defaults).entity


def parse_table(
    text: str, name: str, *, layer: str = "", file: str = "", defaults: Mapping[str, Any] | None = None
) -> DeclaredTable:
    """The declarations in one YAML text. Raises EntityErrors."""
    try:
        return _read(text, {**(defaults or {}), "name": name, "layer": layer, "file": file or f"{name}.yaml"})
    except EntityError as error:
        raise EntityErrors([error]) from error


def parse_defaults(text: str, file: str) -> tuple[dict[str, Any], list[EntityError]]:
    """The defaults of one YAML text, and errors for its unknown keys. Raises EntityError if it is not a document."""
    document = read_document(text, file)
    values = document.values or {}
    problems = [_unknown_default(key, f"{file}:{document.line((key,))}") for key in values if key not in DEFAULT_KEYS]
    return {key: value for key, value in values.items() if key in DEFAULT_KEYS}, problems


def _unknown_default(key: object, where: str) -> EntityError:
    expected, hint = f"one of {', '.join(DEFAULT_KEYS)}", did_you_mean(str(key), DEFAULT_KEYS)
    return EntityError(f"unknown default '{key}'", expected=expected, where=where, hint=hint)


def _read(text: str, below: Mapping[str, Any]) -> DeclaredTable:
    """The declarations of a text. Raises EntityError if it is not a document, EntityErrors if it has errors."""
    values = read_plain(text)
    if values is not None:
        declared = _table(values, below)
        if declared is not None:
            return declared
    document = read_document(text, below["file"])
    declared = _table(document.values, below)
    if declared is None:
        raise EntityErrors(list(_problems(document, below)))
    return declared


def _table(values: Any, below: Mapping[str, Any]) -> DeclaredTable | None:
    """The declarations of these values, or None if they have errors."""
    if not is_copied(values):
        entity = _entity(values, below)
        return None if entity is None else DeclaredTable(entity)
    entity = _entity(table_values(values), below)
    outside = _entity(outside_values(values, below["name"]), below)
    types = types_of(values)
    if entity is None or outside is None or next(wrong_types(types), None):
        return None
    return DeclaredTable(entity, outside, types)


def _problems(document: Document, below: Mapping[str, Any]) -> Iterator[EntityError]:
    """All errors of a file. An error that both entities of a copy have is reported once."""
    file = below["file"]
    if not is_copied(document.values):
        yield from problems_in(document, file, below)
        return
    values, told = document.values, set()
    of_table = replace(document, values=table_values(values))
    of_outside = replace(outside_document(document), values=outside_values(values, below["name"]))
    for problem in (*problems_in(of_table, file, below), *problems_in(of_outside, file, below)):
        if str(problem) not in told:
            told.add(str(problem))
            yield problem
    for column, problem in wrong_types(types_of(values)):
        problem.where = f"{file}:{document.line(('columns', column))}"
        yield problem


def _entity(values: Any, below: Mapping[str, Any]) -> Entity | None:
    """The entity, or None if the values have errors."""
    if not (values is None or isinstance(values, dict)) or (values and not INTERNAL.isdisjoint(values)):
        return None
    try:
        entity = entity_of(values, below)
    except ValidationError:
        return None
    return None if any(broken_rules(entity)) else entity
