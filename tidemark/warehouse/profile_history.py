"""Compares a slice's profile with earlier ones in the state store (C9)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from tidemark.dependency_model.profile.comparison import NOT_COMPARED, DatedFigures, compare
from tidemark.dependency_model.profile.history import is_special_day, past_slices, season_of
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time.period import Period
from tidemark.state_store.slice_profiles import NOT_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.profile.comparison import HistoryComparison
    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.dependency_model.profile.history import PastSlice
    from tidemark.dependency_model.profile.slice_profile import SliceProfile
    from tidemark.state_store.slice_profiles import SliceProfiles, StoredProfile


class ProfileHistory:
    """Profiles of one entity's past slices. Raises StateStoreDownError."""

    def __init__(self, entity: Entity, profiles: SliceProfiles) -> None:
        self._entity, self._profiles = entity, profiles

    def compared(self, slice_: Slice, figures: SliceFigures) -> HistoryComparison:
        """The anomalies of a slice; none for an entity without periods."""
        period = self._entity.period
        if period is None:
            return NOT_COMPARED
        past = [self._dated(before.ago, stored.slice, stored.figures) for before, stored in self.past(slice_)]
        return compare(self._dated(0, slice_, figures), past, season_of(period))

    def past(self, slice_: Slice) -> Sequence[tuple[PastSlice, StoredProfile]]:
        """The published profiles to compare a slice with, the most recent first."""
        if self._entity.period is None:
            return []
        keys = past_slices(self._entity.calendar, self._entity.period, slice_.key)
        slices = {Slice(slice_.entity, before.key, slice_.sub): before for before in keys}
        known = self._profiles.of(slices)
        return [
            (slices[name], known[name]) for name in slices if name in known and known[name].version != NOT_PUBLISHED
        ]

    def with_sketches(self, slice_: Slice, seasons: int) -> dict[Slice, SliceProfile]:
        """The published profiles with sketches of the same time in the `seasons` weeks before.

        For weeks and longer periods, those of the `seasons` slices before. Empty for a holiday; past holidays are left
        out.
        """
        period = self._entity.period
        if period is None or self._is_special(slice_, period):
            return {}
        agos = {season_of(period) * number for number in range(1, seasons + 1)}
        past = [stored.slice for before, stored in self.past(slice_) if before.ago in agos]
        return self._profiles.mergeable([other for other in past if not self._is_special(other, period)])

    def _dated(self, ago: int, slice_: Slice, figures: SliceFigures) -> DatedFigures:
        calendar, period = self._entity.calendar, self._entity.period
        if period is None:
            return DatedFigures(ago, figures)
        return DatedFigures(ago, figures, calendar.window(period, slice_.key), self._is_special(slice_, period))

    def _is_special(self, slice_: Slice, period: Period) -> bool:
        calendar = self._entity.calendar
        day_key = calendar.key(Period.DAY, calendar.window(period, slice_.key).start)
        is_daily = period is Period.DAY or period.is_clock
        return is_daily and is_special_day(calendar.holidays, date.fromisoformat(day_key))
