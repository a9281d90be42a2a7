"""Finds suspects for a wrong slice, from the state store and Dagster's event log."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tidemark.dependency_model.impact import Evidence, suspects_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.impact import Suspect
    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus


class Suspicion:
    """Asks the store for slices one by one, each only once."""

    def __init__(self, stands: WarehouseStatus) -> None:
        self._stands = stands
        self._statuses: dict[Slice, SliceStatus | None] = {}
        self._versions: dict[Slice, str] = {}

    def suspects(self, slice_: Slice) -> tuple[Suspect, ...]:
        """The suspects of a slice, most likely first."""
        warehouse = self._stands.warehouse
        evidence = Evidence(self.reads, self.version, self._is_outdated, self._is_snapshot)
        return suspects_of(warehouse.graph, slice_, self, evidence)

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The stored status."""
        if slice_ not in self._statuses:
            current = self._stands.store.read.current(slice_) if self._stands.store else None
            self._statuses[slice_] = current.status if current else None
        return self._statuses[slice_]

    def reads(self, slice_: Slice) -> Sequence[UsedSlice] | None:
        """Inputs of the last run that the center launched for a slice; None if there was none."""
        launches = self._stands.store.read.launches([slice_]) if self._stands.store else {}
        manifest = launches[slice_].facts.manifest if slice_ in launches else None
        return [used for of_entity in manifest.used_slices.values() for used in of_entity] if manifest else None

    def version(self, slice_: Slice) -> str:
        """The last reported version of its table; empty if unknown."""
        if slice_ not in self._versions:
            told = self._stands.store.read.versions([slice_]) if self._stands.store else {}
            self._versions[slice_] = told.get(slice_, "")
        return self._versions[slice_]

    def _is_outdated(self, slice_: Slice) -> bool:
        return str(slice_).partition("@")[2] in self._outdated.get(slice_.entity, ())

    @cached_property
    def _outdated(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(keys) for name, keys in self._stands.outdated_slices.items()}

    def _is_snapshot(self, entity: str) -> bool:
        return entity in self._stands.warehouse.entities and self._stands.warehouse.is_snapshot(entity)
