"""Which run carries out which launch of a center, and what the tags of a run are worth.

Dagster copies a run's tags to the run that repeats it (`Re-execute` on its pages, run retries), and its pages cannot
remove one. So a run is known by its own id; a tag of ours counts on the run that it was given to, and on no copy.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from dagster import RunsFilter

if TYPE_CHECKING:
    from dagster import DagsterInstance, DagsterRun

RUN_TAG: Final = "tidemark/run"
"""The id under which the center asked for a run; Dagster gives runs that a sensor asks for ids of its own."""
REFUSED_TAG: Final = "tidemark/refused"
"""The assets that a run did not compute, as their inputs were not there."""
ENDED_TAG: Final = "tidemark/ended"
"""What ended a run that did not fail by itself, with the run's id."""
_PARENT_TAG: Final = "dagster/parent_run_id"
_KEY_TAG: Final = "dagster/run_key"


class OutsideEnd(Enum):
    """What ends a run from outside."""

    INTERRUPTED = "interrupted"
    """What ran it was told to stop."""
    LOST = "lost"
    """What ran it is gone."""


def is_repeated(run: DagsterRun) -> bool:
    """Whether a run repeats another one: its tags are copies."""
    return run.parent_run_id is not None or _PARENT_TAG in run.tags


def own_tag(run: DagsterRun, name: str) -> str:
    """The value of a tag that a run was given itself; empty where there is none."""
    return "" if is_repeated(run) else run.tags.get(name, "")


def run_of_launch(instance: DagsterInstance, launch: str) -> DagsterRun | None:
    """The run that was started for a launch: of several that carry its id the first, and no repeated one."""
    run = instance.get_run_by_id(launch)
    if run is not None:
        return run
    tagged = instance.get_runs(RunsFilter(tags={RUN_TAG: launch}), ascending=True)
    return next((run for run in tagged if not is_repeated(run)), None)


def launch_of(instance: DagsterInstance, run: DagsterRun) -> str:
    """The id of the launch that a run carries out; its own where it carries out none."""
    asked = own_tag(run, RUN_TAG)
    if not asked or asked == run.tags.get(_KEY_TAG):
        return asked or run.run_id
    first = run_of_launch(instance, asked)
    return asked if first is None or first.run_id == run.run_id else run.run_id


def refused_assets(run: DagsterRun) -> list[str]:
    """The assets that a run itself refused to compute."""
    own = _own_suffix(run)
    names = run.tags.get(REFUSED_TAG, "").split(",")
    return [name.removesuffix(own) for name in names if name and name.endswith(own)]


def mark_refused(instance: DagsterInstance, run_id: str, asset: str) -> None:
    """Note that a run refuses to compute an asset."""
    run = instance.get_run_by_id(run_id)
    if run is not None:
        names = [f"{name}{_own_suffix(run)}" for name in (*refused_assets(run), asset)]
        instance.add_run_tags(run_id, {REFUSED_TAG: ",".join(names)})


def _own_suffix(run: DagsterRun) -> str:
    return f"@{run.run_id}" if is_repeated(run) else ""


def mark_ended(instance: DagsterInstance, run_id: str, end: OutsideEnd) -> None:
    """Note what ends a run from outside."""
    instance.add_run_tags(run_id, {ENDED_TAG: f"{end.value} {run_id}"})


def outside_end(run: DagsterRun) -> OutsideEnd | None:
    """What ended a run from outside; None where it ended by itself, or a person cancelled it."""
    end, _, marked = run.tags.get(ENDED_TAG, "").partition(" ")
    return next((kind for kind in OutsideEnd if kind.value == end and marked == run.run_id), None)
