"""The state of a waiting run in Dagster: it is starting, so Dagster's monitor lets it wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tidemark.warm_runs.close_runs import DagsterRunCloser
from tidemark.warm_runs.run_journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@dg.job
def nothing() -> None:
    pass


def starting(instance: dg.DagsterInstance) -> str:
    run = instance.create_run_for_job(nothing, status=dg.DagsterRunStatus.STARTING)
    return run.run_id


def told(instance: dg.DagsterInstance, run_id: str) -> list[str | None]:
    return [log.dagster_event.message for log in instance.all_logs(run_id) if log.dagster_event]


def test_the_monitor_counts_from_the_last_time_that_the_run_was_said_to_wait(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    run_id = starting(instance)
    closer = DagsterRunCloser(instance, Journal(tmp_path))
    times = []
    for before in (3, 2):
        closer.waits(run_id, before)
        times.append(instance.get_run_stats(run_id).launch_time or 0.0)
    assert 0 < times[0] < times[1]
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status is dg.DagsterRunStatus.STARTING
    assert told(instance, run_id)[-1] == "The run waits for a warm worker, with 2 before it."


def test_a_run_that_a_user_cancels_stays_cancelled(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    run_id = starting(instance)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    instance.report_run_canceling(run)
    DagsterRunCloser(instance, Journal(tmp_path)).waits(run_id, 0)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status is dg.DagsterRunStatus.CANCELING
