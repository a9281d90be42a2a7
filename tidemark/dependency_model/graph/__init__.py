"""The graph of entities, which answers for each slice."""

from tidemark.dependency_model.graph.graph import DependencyGraph
from tidemark.dependency_model.graph.requirement import Requirement

__all__ = ["DependencyGraph", "Requirement"]
