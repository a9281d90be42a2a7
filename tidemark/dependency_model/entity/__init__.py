"""Entities: what is declared once, and from which everything else is derived."""

from tidemark.dependency_model.entity.dependency import Dependency, Weak
from tidemark.dependency_model.entity.entities import Entities
from tidemark.dependency_model.entity.entity import Entity, EntityState, Kind, LateEvents, Reprocess, Source
from tidemark.dependency_model.entity.parsing import parse_entity
from tidemark.dependency_model.entity.quality import QualityRule

__all__ = [
    "Dependency",
    "Entities",
    "Entity",
    "EntityState",
    "Kind",
    "LateEvents",
    "QualityRule",
    "Reprocess",
    "Source",
    "Weak",
    "parse_entity",
]
