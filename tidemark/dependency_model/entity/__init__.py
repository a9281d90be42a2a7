"""Entities: tables and other data as the project declares them."""

from tidemark.dependency_model.entity.dependency import Dependency, Weak
from tidemark.dependency_model.entity.entities import Entities
from tidemark.dependency_model.entity.entity import (
    CapturedSource,
    Entity,
    EntityKind,
    EntityState,
    LateEvents,
    Reprocess,
)
from tidemark.dependency_model.entity.entity_parser import parse_entity
from tidemark.dependency_model.entity.quality_rules import QualityRule

__all__ = [
    "CapturedSource",
    "Dependency",
    "Entities",
    "Entity",
    "EntityKind",
    "EntityState",
    "LateEvents",
    "QualityRule",
    "Reprocess",
    "Weak",
    "parse_entity",
]
