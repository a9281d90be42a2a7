"""What steps printed long ago is removed, and nothing else of their runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from tidemark.dagster_internals.step_output_files import remove_step_logs

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def printed(home: Path, run: str, days_ago: int) -> Path:
    folder = home / "storage" / run / "compute_logs"
    folder.mkdir(parents=True)
    when = (NOW - timedelta(days=days_ago)).timestamp()
    for name in ("step.out", "step.err"):
        (folder / name).write_text("said")
        os.utime(folder / name, (when, when))
    os.utime(folder, (when, when))
    return folder


def test_output_of_old_runs_is_removed(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        old, new, more = (printed(tmp_path, run, days) for run, days in (("old", 91), ("new", 89), ("more", 200)))
        (more.parent / "result").write_text("kept")
        assert remove_step_logs(instance, NOW - timedelta(days=90), 1) == 1
        assert remove_step_logs(instance, NOW - timedelta(days=90), 9) == 1
        assert remove_step_logs(instance, NOW - timedelta(days=90), 9) == 0
    assert (old.parent.exists(), more.exists(), (more.parent / "result").exists(), new.exists()) == (
        False,
        False,
        True,
        True,
    )
