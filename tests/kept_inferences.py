"""What queries read, kept in this process: most commands load this repository's project, with other data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.warehouse import inference_cache
from tidemark.warehouse.inference_cache import InferenceCache

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.warehouse.query_text import QueryText

_KEPT: dict[tuple[str, ...], dict[str, Read]] = {}


def keep_inferences(patch: pytest.MonkeyPatch) -> None:
    """The same texts over the same entities are analysed once."""
    analyse = InferenceCache._analyse

    def kept(
        self: InferenceCache, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]
    ) -> dict[str, Read]:
        signatures = (f"{name} {inference_cache._signature(entities[name], entities)}" for name in sorted(entities))
        key = (inference_cache._key(entity, texts, entities), *signatures)
        if key not in _KEPT:
            _KEPT[key] = analyse(self, entity, texts, entities)
        return dict(_KEPT[key])

    patch.setattr(InferenceCache, "_analyse", kept)
