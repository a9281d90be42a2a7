"""The profile of one slice from the state store, or merged over a longer period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.console.errors import NoProfileError
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.history import season_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import merge
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time.period import Period
from tidemark.errors import TidemarkError
from tidemark.state_store.database import Database
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.warehouse.profile_history import ProfileHistory
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.profile.comparison import Anomaly
    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.system.settings import Settings


@dataclass(frozen=True)
class ProfileAnswer:
    """`usual` are the figures of earlier weeks at the same weekday and time; for weeks and longer, all earlier ones."""

    slice: Slice
    measured_at: datetime
    figures: SliceFigures
    history: History
    anomalies: tuple[Anomaly, ...]
    usual: tuple[SliceFigures, ...]
    merged_from: tuple[Slice, ...] = ()


def profile_answer(settings: Settings, entity: str, key: str) -> ProfileAnswer:
    """The profile. Raises UnknownEntityError, ParseError, NoProfileError, StateStoreDownError."""
    graph = load_warehouse(settings).graph
    declared, profiles = graph.entity(entity), SliceProfiles(Database.of(settings))
    slice_ = Slice(entity, key)
    stored = profiles.of([slice_]).get(slice_)
    if stored is None:
        return _merged(graph, declared, profiles, slice_)
    past = ProfileHistory(declared, profiles).past(slice_)
    season = season_of(declared.period) if declared.period else 1
    usual = tuple(profile.figures for before, profile in past if before.ago % season == 0)
    return ProfileAnswer(slice_, stored.measured_at, stored.figures, stored.history, stored.anomalies, usual)


def _merged(graph: DependencyGraph, entity: Entity, profiles: SliceProfiles, slice_: Slice) -> ProfileAnswer:
    """Merge all slices of the period; a slice without a profile is an error."""
    longer = _longer_period(entity, slice_.key)
    if longer is None:
        graph.window(slice_)
        raise NoProfileError.of(slice_, [slice_])
    parts = graph.slices_within(entity.name, entity.calendar.window(longer, slice_.key))
    known = profiles.mergeable(parts)
    missing = [part for part in parts if part not in known]
    if missing or not parts:
        raise NoProfileError.of(slice_, missing)
    figures = figures_of(merge([known[part] for part in parts]))
    measured_at = max(stored.measured_at for stored in profiles.of(parts).values())
    return ProfileAnswer(slice_, measured_at, figures, History.NONE, (), (), parts)


def _longer_period(entity: Entity, key: str) -> Period | None:
    """The period of the key, if it is longer than the entity's."""
    for period in Period:
        if entity.period is not None and entity.period.is_finer_than(period):
            try:
                entity.calendar.window(period, key)
            except TidemarkError:
                continue
            return period
    return None
