"""Every entity by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidemark.dependency_model.entity.entity import Entity
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import UnknownEntityError


class Entities(Mapping[str, Entity]):
    """Entities by name, in the order of their files. `entities["dwd_orders"]` raises UnknownEntityError with a hint."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._entities = {entity.name: entity for entity in entities}

    def __getitem__(self, name: str) -> Entity:
        try:
            return self._entities[name]
        except KeyError:
            raise UnknownEntityError(
                "unknown entity", found=quote_value(name), hint=did_you_mean(name, self._entities)
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """Like `dict.get`. The inherited method would raise an error inside and search for similar names each time."""
        return self._entities.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._entities

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities)

    def __len__(self) -> int:
        return len(self._entities)

    def of_layer(self, layer: str) -> tuple[Entity, ...]:
        """The entities of a folder, sorted by name."""
        return tuple(sorted((e for e in self.values() if e.layer == layer), key=lambda e: e.name))

    def with_tags(self, tags: Mapping[str, str]) -> tuple[Entity, ...]:
        """The entities that have all of these tags (seed capability D7)."""
        return tuple(e for e in self.values() if tags.items() <= e.tags.items())
