"""The graph of entities, asked slice by slice."""

from tidemark.dependency_model.graph.graph import DependencyGraph
from tidemark.dependency_model.graph.requirement import Requirement

__all__ = ["DependencyGraph", "Requirement"]
