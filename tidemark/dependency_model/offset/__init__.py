"""Offsets: which slices of an upstream a slice needs, counted in the upstream's periods."""

from tidemark.dependency_model.offset.mapping import mapping_between
from tidemark.dependency_model.offset.mapping_protocol import Mapping
from tidemark.dependency_model.offset.offset import Offset

__all__ = ["Mapping", "Offset", "mapping_between"]
