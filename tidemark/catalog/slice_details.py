"""Details of slices besides their data: results of rules, profiles, and completeness of records.

All of it was stored by the run, profile or count that made it; no rows are read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.catalog.told_rules import told_rules
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from tidemark.catalog.known_completeness import KnownCompleteness
    from tidemark.catalog.slice_completeness import SliceCompleteness
    from tidemark.dependency_model.profile.comparison import Anomaly
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database
    from tidemark.state_store.slice_profiles import StoredProfile


@dataclass(frozen=True)
class ProfileSummary:
    """A short form of a slice's profile. `anomalies` are the unusual figures, the worst first.

    `is_published` is False if the measured rows broke a rule and were refused. `measured_at` is in UTC.
    """

    measured_at: datetime
    rows: int
    columns: int
    history: str
    anomalies: tuple[Anomaly, ...]
    is_published: bool


@dataclass(frozen=True)
class SliceDetails:
    """`rules` is their last result in words. `profile` and `completeness` are None if not stored."""

    rules: str = ""
    profile: ProfileSummary | None = None
    completeness: SliceCompleteness | None = None


NO_DETAILS = SliceDetails()


def slice_details(
    known: KnownCompleteness, database: Database, statuses: Mapping[Slice, SliceStatus]
) -> dict[Slice, SliceDetails]:
    """The current details of slices of one entity. Raises StateStoreDownError."""
    rules = told_rules(database, statuses)
    profiles = SliceProfiles(database).of(statuses)
    complete = known.of(list(statuses))
    return {
        slice_: SliceDetails(
            rules.get(slice_, ""),
            _summary(profiles[slice_]) if slice_ in profiles else None,
            complete.get(slice_),
        )
        for slice_ in statuses
    }


def _summary(stored: StoredProfile) -> ProfileSummary:
    figures = stored.figures
    return ProfileSummary(
        stored.measured_at,
        figures.rows,
        len(figures.columns),
        stored.history.value,
        stored.anomalies,
        is_published=stored.version != NOT_PUBLISHED,
    )
