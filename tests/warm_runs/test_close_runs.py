"""The state of a waiting run in Dagster: it is starting, so Dagster's monitor lets it wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.until import until
from tidemark.warm_runs import close_runs
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


def test_a_run_that_cannot_be_closed_delays_no_other(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, is_full = Journal(tmp_path), True
    remove, (first, second) = journal.remove, (starting(instance), starting(instance))

    def remove_or_fail(run_id: str) -> None:
        if run_id == first and is_full:
            raise OSError("no space left on device")
        remove(run_id)

    monkeypatch.setattr(close_runs, "_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(journal, "remove", remove_or_fail)
    closer = DagsterRunCloser(instance, journal)
    for run_id in (first, second):
        closer.take(run_id)
        closer.close(run_id, "its worker is gone")
    until(lambda: journal.runs() == [first], "the second run is closed")
    is_full = False
    until(lambda: not journal.runs(), "the first run is closed")
    ended = instance.get_runs(dg.RunsFilter(run_ids=[first, second]))
    assert [run.status for run in ended] == [dg.DagsterRunStatus.FAILURE] * 2
    closer.finish(10)
