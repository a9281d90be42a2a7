"""The run of each launch of a center, and the meaning of a run's tags.

Dagster copies a run's tags to the run that repeats it (`Re-execute`, run retries), and its pages cannot remove a tag.
So a run is identified by its own id. A tag of ours counts only on the run that got it first, never on a copy.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from dagster import RunsFilter

if TYPE_CHECKING:
    from dagster import DagsterInstance, DagsterRun

RUN_TAG: Final = "tidemark/run"
"""The id of the center's request. Dagster gives its own ids to runs that a sensor requests."""
POOL_TAG: Final = "tidemark/pool"
REFUSED_TAG: Final = "tidemark/refused"
"""The assets that a run did not compute because their inputs were missing."""
ENDED_TAG: Final = "tidemark/ended"
"""The outside cause that ended a run, with the run's id."""
_PARENT_TAG: Final = "dagster/parent_run_id"
_KEY_TAG: Final = "dagster/run_key"


class OutsideEnd(Enum):
    """Outside causes that end a run."""

    INTERRUPTED = "interrupted"
    """The process that executed it had to stop."""
    LOST = "lost"
    """The process that executed it is gone."""


def is_repeated(run: DagsterRun) -> bool:
    """Whether a run repeats another one, so that its tags are copies."""
    return run.parent_run_id is not None or _PARENT_TAG in run.tags


def own_tag(run: DagsterRun, name: str) -> str:
    """The value of a run's own tag; empty if there is none."""
    return "" if is_repeated(run) else run.tags.get(name, "")


def is_of_sensor(run: DagsterRun) -> bool:
    """Whether the sensor requested a run, rather than a person who copied the tags of another one."""
    return own_tag(run, RUN_TAG) == run.tags.get(_KEY_TAG)


def run_of_launch(instance: DagsterInstance, launch: str) -> DagsterRun | None:
    """The run of a launch. Of several with its id it is the first, and never a repeated one."""
    run = instance.get_run_by_id(launch)
    if run is not None:
        return run
    tagged = instance.get_runs(RunsFilter(tags={RUN_TAG: launch}), ascending=True)
    return next((run for run in tagged if not is_repeated(run)), None)


def launch_of(instance: DagsterInstance, run: DagsterRun) -> str:
    """The id of the launch that a run carries out; its own id if there is none."""
    asked = own_tag(run, RUN_TAG)
    if not asked or is_of_sensor(run):
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
    """Note the outside cause that ends a run."""
    instance.add_run_tags(run_id, {ENDED_TAG: f"{end.value} {run_id}"})


def outside_end(run: DagsterRun) -> OutsideEnd | None:
    """The outside cause that ended a run; None if it ended by itself or a person cancelled it."""
    end, _, marked = run.tags.get(ENDED_TAG, "").partition(" ")
    return next((kind for kind in OutsideEnd if kind.value == end and marked == run.run_id), None)
