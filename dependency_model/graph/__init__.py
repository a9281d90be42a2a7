"""The graph of entities, asked slice by slice."""

from dependency_model.graph.graph import DependencyGraph
from dependency_model.graph.requirement import Requirement

__all__ = ["DependencyGraph", "Requirement"]
