"""Slices that an older version of their code computed. Each slice is stored with its code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.warehouse.code_version import EntityCode, code_version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.entity import Entity
    from tidemark.state_store.code_registry import CodeRegistry, StoredCode
    from tidemark.warehouse.code_version import DeclaredCode


def outdated_slices(registry: CodeRegistry, declared: DeclaredCode, entities: Iterable[Entity]) -> dict[str, list[str]]:
    """By entity, the keys of slices of other code, in order of time, without entities that have none.

    Slices of unknown code are skipped. Raises StateStoreDownError.
    """
    computed = {
        entity.name: entity
        for entity in entities
        if entity.name in declared.queries or entity.name in declared.functions
    }
    older = {
        stored.code
        for stored in registry.codes()
        if stored.entity in computed and version_of(stored) != code_version(declared, computed[stored.entity])
    }
    outdated: dict[str, list[str]] = {}
    for slices in registry.slices_by(older).values():
        for slice_ in slices:
            if slice_.entity in computed:
                outdated.setdefault(slice_.entity, []).append(str(slice_).partition("@")[2])
    return {name: sorted(keys) for name, keys in outdated.items()}


def version_of(stored: StoredCode) -> str:
    """The version of a stored code; empty if the code is not known."""
    try:
        return EntityCode.of_json(stored.content).version if stored.content else ""
    except ValueError:
        return ""
