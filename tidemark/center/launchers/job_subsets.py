"""Jobs for sets of assets, made from the job of all assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import dagster as dg

_MOST_JOBS: Final = 500


class JobSubsets:
    """Making a job takes tenths of a second with many assets; some hundred jobs are cached."""

    def __init__(self, job: dg.JobDefinition) -> None:
        self._job = job
        self._subsets: dict[frozenset[dg.AssetKey], dg.JobDefinition] = {}

    def of(self, keys: frozenset[dg.AssetKey]) -> dg.JobDefinition:
        """The job of these assets."""
        if keys not in self._subsets:
            if len(self._subsets) >= _MOST_JOBS:
                self._subsets.clear()
            self._subsets[keys] = self._job.get_subset(asset_selection=keys)
        return self._subsets[keys]
