"""Entities: what is declared once, and from which everything else is derived."""

from dependency_model.entity.catalog import Catalog
from dependency_model.entity.dependency import Dependency, Weak
from dependency_model.entity.entity import Entity, EntityState, Kind, LateEvents, Reprocess, Source
from dependency_model.entity.loading import load_entities, parse_entity, read_entities
from dependency_model.entity.location import locate
from dependency_model.entity.quality import QualityRule

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
