"""Waiting slices for Dagster's pages: an observation when a slice's reason changes, and a line in the sensor's tick.

Dagster's pages show a waiting partition in grey, without its missing inputs. A slice is reported a minute after its
earliest time. Before that it usually waits for active runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Self

import dagster as dg

from tidemark.center.explain_command import explain_command
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

AFTER: Final = timedelta(minutes=1)
OBSERVED: Final = 50
"""The most observed slices, the newest ones, because the sensor's cursor holds their reasons."""
_SHOWN: Final = 3


@dataclass(frozen=True)
class WaitingSlices:
    """The number of waiting slices, and the reasons of the newest ones."""

    count: int
    reasons: Mapping[Slice, str]

    @classmethod
    def of(cls, center: DependencyCenter, now: datetime) -> Self:
        """The waiting slices, as known to the center."""
        count, lacking = center.waiting(now - AFTER, OBSERVED)
        return cls(count, {slice_: _listed(missing) for slice_, missing in lacking.items() if missing})

    def summary(self) -> str:
        """A line such as `3 waiting: ads_gmv@2026-03-29 for ods_orders@2026-03-29; ...`; empty if none waits."""
        if not self.count:
            return ""
        shown = [f"{slice_} for {reason}" for slice_, reason in list(self.reasons.items())[:_SHOWN]]
        more = ["..."] if self.count > len(shown) else []
        return f"{self.count} waiting: {'; '.join([*shown, *more])}"

    def new_reasons(self, told: Mapping[str, str]) -> dict[Slice, str]:
        """The slices whose reason changed. `told` are the reported reasons by the slices' texts."""
        return {slice_: reason for slice_, reason in self.reasons.items() if told.get(str(slice_)) != reason}

    def told_reasons(self) -> dict[str, str]:
        """The reasons that the next tick compares with."""
        return {str(slice_): reason for slice_, reason in self.reasons.items()}


def observations(graph: DependencyGraph, reasons: Mapping[Slice, str]) -> list[dg.AssetObservation]:
    """An observation for each slice on its partition's page. The whole of several parts has no page and gets none."""
    return [
        dg.AssetObservation(
            slice_.entity,
            partition=partition_of(graph.entity(slice_.entity), slice_),
            description=f"waiting for {reason}",
            metadata={"waits_for": reason, "explain": explain_command(slice_)},
        )
        for slice_, reason in reasons.items()
        if slice_.sub or not graph.entity(slice_.entity).sub_partitions
    ]


def _listed(missing: Iterable[Slice]) -> str:
    names = [str(slice_) for slice_ in missing]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
