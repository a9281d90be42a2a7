"""The surroundings of a slice's rows that rules need: inputs, window, and the rows of other slices."""

from __future__ import annotations

from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Final

from tidemark.compute.business_time import slice_values
from tidemark.delta.delta_rs_table import table_exists, table_metrics
from tidemark.dependency_model.profile.drift import Dated
from tidemark.warehouse.dagster_partition_keys import period_of
from tidemark.warehouse.profile_history import ProfileHistory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from tidemark.compute.input_views import Inputs
    from tidemark.dependency_model.profile.slice_profile import SliceProfile
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.slice_profiles import SliceProfiles
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

_WEEKS: Final = (1, 2, 3, 4)


class Surroundings:
    """The surroundings of one audit's slices. Rows of other slices are counted from the table's log, without a scan."""

    def __init__(
        self, inputs: Inputs, warehouse: Warehouse, registry: SnapshotRegistry, profiles: SliceProfiles
    ) -> None:
        self.inputs = inputs
        self._warehouse, self._registry, self._profiles = warehouse, registry, profiles
        self._counted: dict[Slice, int] = {}

    def quarantine_of(self, entity: str) -> TableLocation:
        """The location of the table for rows that broke a rule of the entity."""
        return self._warehouse.settings.warehouse / "_quarantine" / entity

    def now_counted(self, rows: Mapping[Slice, int]) -> None:
        """Sets the new counts of slices of the same audit, for comparisons between them."""
        self._counted = dict(rows)

    def end_of(self, slice_: Slice) -> datetime:
        """The end of the slice's window; aware."""
        return self._warehouse.graph.window(slice_).end

    def dated_profile(self, slice_: Slice, profile: SliceProfile) -> Dated:
        """The profile with the start of its slice's window."""
        return Dated(profile, self._warehouse.graph.window(slice_).start.timestamp())

    def profiles_of_same_weekday(self, slice_: Slice) -> list[Dated]:
        """Profiles of the same time up to four weeks before (weeks and longer:

        of the slices before), without holidays.
        """
        history = ProfileHistory(self._warehouse.graph.entity(slice_.entity), self._profiles)
        return [self.dated_profile(*past) for past in history.with_sketches(slice_, len(_WEEKS)).items()]

    def rows_before(self, slice_: Slice) -> int | None:
        """The rows of the slice before; None if it does not exist."""
        node = self._warehouse.graph.node(slice_.entity)
        before = node.ordinal(slice_) - 1
        return self._rows_of(node.slice(before, slice_.sub)) if before in node.existing_of(slice_.sub) else None

    def rows_of_same_weekday(self, slice_: Slice) -> float | None:
        """The median rows of the existing slices of the same time one to four weeks before."""
        graph, window = self._warehouse.graph, self._warehouse.graph.window(slice_)
        # The middle, so that an hour of summer time does not lead into another day.
        middle = window.start + (window.end - window.start) / 2
        earlier = [graph.slice_at(slice_.entity, middle - timedelta(weeks=weeks), slice_.sub) for weeks in _WEEKS]
        counts = [self._rows_of(other) for other in earlier if graph.exists(other)]
        there = [count for count in counts if count is not None]
        return median(there) if there else None

    def _rows_of(self, slice_: Slice) -> int | None:
        if slice_ in self._counted:
            return self._counted[slice_]
        path = self._warehouse.table_path(slice_.entity)
        if not table_exists(path):
            return None
        if self._warehouse.is_snapshot(slice_.entity):
            period = period_of(self._warehouse.graph, slice_.entity)
            tagged = self._registry.get(slice_.entity, period, slice_.key)
            return None if tagged is None else table_metrics(path, version=tagged.version).rows
        metrics = table_metrics(path, slice_values(self._warehouse.entities[slice_.entity], slice_))
        return metrics.rows if metrics.files else None
