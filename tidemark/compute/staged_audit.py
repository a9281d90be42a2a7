"""The audit of a slice's rows: rules and profile in one scan, and deeper rules if the profile is unusual.

The second story of the seed document (C9): a profile finds an anomaly, and a deeper check decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.anomaly_verdict import AnomalyVerdict
from tidemark.compute.kept_results import JudgedVersion, results_of
from tidemark.compute.quality_checks import audit
from tidemark.delta.partition_predicate import any_partition_predicate
from tidemark.dependency_model.entity.profile_settings import Anomalies
from tidemark.dependency_model.profile.comparison import NOT_COMPARED
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, StoredProfile
from tidemark.warehouse.profile_history import ProfileHistory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from tidemark.compute.changed_rows import ChangedRows
    from tidemark.compute.check_result import CheckResult
    from tidemark.compute.quality_checks import Audit
    from tidemark.compute.rule_surroundings import Surroundings
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.rule_results import RuleResults
    from tidemark.state_store.slice_profiles import SliceProfiles
    from tidemark.warehouse.warehouse import Warehouse

_MOST_INPUTS: Final = 400


@dataclass(frozen=True)
class StagedAudit:
    """Audits slices of a warehouse, and stores profiles and results. Raises StateStoreDownError."""

    warehouse: Warehouse
    profiles: SliceProfiles
    results: RuleResults
    around: Surroundings

    def audit(
        self,
        entity: Entity,
        rows: DataFrame,
        slices: Mapping[tuple[Any, ...], Slice],
        narrowed: ChangedRows | None = None,
        files: Mapping[Slice, Sequence[Path]] | None = None,
    ) -> dict[Slice, Audit]:
        """The results of rules and profiles.

        `slices` are by the values of the partition columns, the last ones of `rows`.

        Profiles are measured from the `files` of each slice if given.
        """
        told = audit(entity.quality, rows, slices, self.around, entity.profiled, narrowed, files)
        audits = {slice_: self._with_figures(slice_, audited) for slice_, audited in told.items()}
        if entity.anomalies is Anomalies.OFF or entity.period is None:
            return audits
        history = ProfileHistory(entity, self.profiles)
        compared = {
            slice_: history.compared(slice_, audited.figures)
            for slice_, audited in audits.items()
            if audited.figures is not None
        }
        doubtful = {key: slice_ for key, slice_ in slices.items() if slice_ in compared and compared[slice_].anomalies}
        deeper = self._deeper(entity, rows, doubtful)
        verdicts = {
            slice_: AnomalyVerdict(comparison, entity.anomalies, deeper.get(slice_, ()))
            for slice_, comparison in compared.items()
        }
        return {slice_: replace(audited, anomaly=verdicts.get(slice_)) for slice_, audited in audits.items()}

    def keep(
        self,
        audits: Mapping[Slice, Audit],
        versions: Mapping[Slice, int],
        judged: Mapping[Slice, JudgedVersion] = MappingProxyType({}),
    ) -> None:
        """Stores profiles and results in the state store; a slice without a version was not published.

        `judged` has what was judged, if it is more than the published version.
        """
        now, stored = datetime.now(UTC), []
        self.results.put(
            [
                result
                for slice_, told in audits.items()
                for result in results_of(
                    self.warehouse.entities[slice_.entity],
                    slice_,
                    told,
                    judged.get(slice_, JudgedVersion(versions.get(slice_))),
                    now,
                )
            ]
        )
        for slice_, told in audits.items():
            if told.profile is not None and told.figures is not None:
                comparison = told.anomaly.comparison if told.anomaly else NOT_COMPARED
                past = (comparison.history, comparison.anomalies)
                version = versions.get(slice_, NOT_PUBLISHED)
                stored.append((StoredProfile(slice_, now, version, told.figures, *past), told.profile))
        self.profiles.put(stored)

    def _deeper(
        self, entity: Entity, rows: DataFrame, doubtful: Mapping[tuple[Any, ...], Slice]
    ) -> dict[Slice, tuple[CheckResult, ...]]:
        if not doubtful or not entity.quality_on_anomaly:
            return {}
        columns = rows.columns[len(rows.columns) - len(next(iter(doubtful))) :]
        partitions = [dict(zip(columns, key, strict=True)) for key in doubtful]
        own = rows.where(any_partition_predicate(partitions))
        audits = audit(entity.quality_on_anomaly, own, doubtful, self.around)
        return {slice_: told.checks for slice_, told in audits.items()}

    def _with_figures(self, slice_: Slice, told: Audit) -> Audit:
        if told.profile is None:
            return told
        return replace(told, figures=figures_of(told.profile, self._input_rows(slice_)))

    def _input_rows(self, slice_: Slice) -> dict[str, int]:
        """The rows of the input slices by input, if all of them have a profile."""
        wanted: dict[str, set[Slice]] = {}
        for requirement in self.warehouse.graph.requirements(slice_):
            if not requirement.or_older and len(requirement.slices) <= _MOST_INPUTS:
                wanted.setdefault(requirement.dependency.entity, set()).update(requirement.slices)
        known = self.profiles.of({part for parts in wanted.values() for part in parts})
        return {
            name: sum(known[part].figures.rows for part in parts)
            for name, parts in wanted.items()
            if name != slice_.entity and all(part in known and known[part].version != NOT_PUBLISHED for part in parts)
        }
