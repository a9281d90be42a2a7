"""Entities: what is declared once, and from which everything else is derived."""

from tidemark.dependency_model.entity.catalog import Catalog
from tidemark.dependency_model.entity.dependency import Dependency, Weak
from tidemark.dependency_model.entity.entity import Entity, EntityState, Kind, LateEvents, Reprocess, Source
from tidemark.dependency_model.entity.loading import load_entities, parse_entity, read_entities
from tidemark.dependency_model.entity.location import locate
from tidemark.dependency_model.entity.quality import QualityRule

__all__ = [
    "Catalog",
    "Dependency",
    "Entity",
    "EntityState",
    "Kind",
    "LateEvents",
    "QualityRule",
    "Reprocess",
    "Source",
    "Weak",
    "load_entities",
    "locate",
    "parse_entity",
    "read_entities",
]
