"""Probes of the project: functions behind entry points of the group `tidemark.probes`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import OwnProbe

GROUP: Final = "tidemark.probes"


def installed() -> tuple[str, ...]:
    """The names of all installed probes."""
    return tuple(sorted(entry_points(group=GROUP).names))


def look(source: OwnProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """The result of the project's own function, which gets the declared settings with variables filled in.

    Raises ProbeSettingError for an unknown name, ProbeError for a result that is not a Sight.
    """
    points = list(entry_points(group=GROUP, name=source.entry_point))
    if not points:
        names = ", ".join(installed()) or "none"
        raise ProbeSettingError(
            "the probe does not exist", expected=f"an entry point of {GROUP}: {names}", found=source.entry_point
        )
    settings = {name: context.secrets.fill(value) for name, value in source.settings.items()}
    sight = points[0].load()(settings, probed, context)
    if not isinstance(sight, Sight):
        raise ProbeError("the probe did not return a Sight", found=type(sight).__name__, where=source.entry_point)
    return sight
