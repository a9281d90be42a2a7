"""What slices ask of a target: each once a generation, in order, and nothing that was not hit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.project import CHECKOUT
from tests.refresh.world import RefreshedProject
from tidemark.dependency_model.refresh.delivery import RefreshState
from tidemark.refresh.refresher import Refresher
from tidemark.state_store.held_leases import holding
from tidemark.system.errors import AlreadyRunningError

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.refresh.refreshed_slice import RefreshedSlice

DAY, NEXT = "2026-03-28", "2026-03-29"
_KILLED = """
import sys
from pathlib import Path
from tests.refresh.world import RefreshedProject
RefreshedProject.opened(Path(sys.argv[1])).refresh()
"""


@pytest.fixture
def project(tmp_path: Path) -> RefreshedProject:
    return RefreshedProject.at(tmp_path)


def test_a_completed_slice_is_refreshed_once_a_generation(project: RefreshedProject) -> None:
    slice_ = project.complete(DAY)
    assert (project.refresh().delivered, project.refresh().delivered) == (1, 0)
    project.complete(NEXT)
    project.complete(DAY)
    assert project.refresh().delivered == 2
    assert project.target.got == [
        (f"sales@{DAY}", "refresh", 1),
        (f"sales@{NEXT}", "refresh", 1),
        (f"sales@{DAY}", "refresh", 2),
    ]
    assert project.delivery(slice_).state is RefreshState.DELIVERED


def test_a_slice_that_is_found_wrong_is_invalidated_and_refreshed_when_it_is_good_again(
    project: RefreshedProject,
) -> None:
    slice_ = project.complete(DAY)
    project.refresh()
    project.happen(slice_, "tainted")
    project.refresh()
    project.happen(slice_, "kept")
    project.refresh()
    assert [(action, generation) for _, action, generation in project.target.got] == [
        ("refresh", 1),
        ("invalidate", 1),
        ("refresh", 1),
    ]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("quality_failed", "invalidate"),
        ("overwritten", "invalidate"),
        ("deleted", "invalidate"),
        ("backfill_requested", None),
        ("backfill_requested released launched started backfilled", None),
        ("backfill_requested released launched started failed quality_failed", None),
        ("quality_failed quality_ignored", None),
    ],
)
def test_deliveries_that_events_request(project: RefreshedProject, events: str, expected: str | None) -> None:
    """Rows that are on their way, or were never published, leave what was made of those before as it is."""
    slice_ = project.complete(DAY)
    project.refresh()
    project.happen(slice_, events)
    project.refresh()
    assert [action for _, action, _ in project.target.got[1:]] == ([expected] if expected else [])


def test_slices_that_were_never_valid_have_no_deliveries(project: RefreshedProject) -> None:
    project.happen(project.complete(DAY), "tainted")
    project.complete(DAY, entity="other")
    assert project.refresh().delivered == 0
    assert project.target.got == []


def test_a_target_that_is_down_is_asked_by_one_delivery_and_gets_the_newest_of_each_slice(
    project: RefreshedProject,
) -> None:
    project.target.is_down = True
    slice_ = project.complete(DAY)
    project.complete(NEXT)
    assert list(project.refresh().troubles) == [slice_]
    assert (project.delivery(slice_).attempts, project.delivery(slice_).state) == (1, RefreshState.FAILED)
    project.complete(DAY)
    project.target.is_down = False
    assert project.refresh().delivered == 2
    assert project.target.got == [(f"sales@{NEXT}", "refresh", 1), (f"sales@{DAY}", "refresh", 2)]


def test_a_target_that_is_down_is_asked_after_longer_and_longer_waits(project: RefreshedProject) -> None:
    """Within one process, whatever else becomes due meanwhile."""
    project.target.is_down = True
    asked = []
    slice_ = project.complete(DAY)

    def wait() -> bool:
        asked.append(project.delivery(slice_).attempts)
        if len(asked) == 3:
            project.complete(NEXT)
        project.now += timedelta(seconds=1)
        return len(asked) < 16

    Refresher(project.warehouse, project.store, "cache", project.target, lambda: project.now).follow(lambda: True, wait)
    assert asked == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4]


def test_a_taint_that_goes_while_the_target_is_down_is_followed_by_a_refresh(project: RefreshedProject) -> None:
    """The target may have taken the invalidation before it broke off."""
    slice_ = project.complete(DAY)
    project.refresh()
    project.happen(slice_, "tainted")
    project.target.is_down = True
    project.refresh()
    project.happen(slice_, "kept")
    project.target.is_down = False
    project.refresh()
    assert [action for _, action, _ in project.target.got] == ["refresh", "refresh"]


def test_a_slice_that_is_refused_holds_no_other_up(project: RefreshedProject) -> None:
    refused = project.complete(DAY)
    project.target.refuses = {str(refused)}
    project.complete(NEXT)
    report = project.refresh()
    assert (report.delivered, list(report.troubles)) == (1, [refused])
    assert "refused" in project.delivery(refused).reason
    project.target.refuses = set()
    assert project.refresh().delivered == 1
    assert project.delivery(refused).reason == ""


def test_an_unexpected_error_delays_no_other_target_and_shows_no_address(project: RefreshedProject) -> None:
    class Odd:
        def deliver(self, refreshed: RefreshedSlice) -> None:
            if refreshed.slice.key == DAY:
                raise KeyError("redis://:secret@host")

    slice_ = project.complete(DAY)
    project.complete(NEXT)
    assert project.refresh(adapter=Odd()).delivered == 1
    assert project.delivery(slice_).reason == "unexpected KeyError"


def test_one_process_at_a_time_refreshes_a_target(project: RefreshedProject) -> None:
    with (
        holding(project.store.database, "refresh cache", "refreshing cache"),
        pytest.raises(AlreadyRunningError, match="refresh cache"),
    ):
        project.refresh()


@pytest.mark.slow
def test_a_delivery_of_a_killed_process_is_repeated(project: RefreshedProject) -> None:
    project.complete(DAY)
    died = subprocess.run(
        [sys.executable, "-c", _KILLED, str(project.root)],
        env={**os.environ, "TIDEMARK_CRASH_AT": "refresh.delivered", "PYTHONPATH": str(CHECKOUT)},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    assert project.refresh().delivered == 1
    assert project.refresh().delivered == 0
