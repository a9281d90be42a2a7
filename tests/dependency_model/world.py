"""Small worlds of entities, written as YAML like everyone writes them."""

from __future__ import annotations

from textwrap import dedent

from tidemark.dependency_model.entity import Entity, parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice

PARIS = {"time_zone": "Europe/Paris", "start": "2024-01-01"}


def entity(name: str, text: str, **defaults: str) -> Entity:
    """One entity of Paris that starts with 2024, where nothing else is said."""
    return parse_entity(dedent(text), name, defaults={**PARIS, **defaults})


def graph(**texts: str) -> DependencyGraph:
    """The graph of entities by name."""
    return DependencyGraph.build([entity(name, text) for name, text in texts.items()])


def keys(world: DependencyGraph, text: str, state: str = "completed") -> dict[str, list[str]]:
    """What a slice needs: keys by entity."""
    return {
        requirement.dependency.entity: [str(slice_).partition("@")[2] for slice_ in requirement.slices]
        for requirement in world.requirements(Slice.parse(text), state)
    }


def names(slices: tuple[Slice, ...]) -> list[str]:
    return [str(slice_) for slice_ in slices]
