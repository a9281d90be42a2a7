"""The output of steps, written to Dagster's files by this process."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from dagster._core.execution.compute_logs import redirect_to_file
from dagster._core.storage.compute_log_manager import CapturedLogContext, ComputeIOType
from dagster._core.storage.local_compute_log_manager import IO_TYPE_EXTENSION, LocalComputeLogManager

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import dagster as dg


def capture_directly(instance: dg.DagsterInstance) -> None:
    """Write the output of steps only to Dagster's files.

    Dagster would start four processes for each step to copy it to this process's own output, which has no reader.
    """
    manager = instance.compute_log_manager
    if not isinstance(manager, LocalComputeLogManager):
        return

    @contextmanager
    def capture_logs(log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        out, err = (
            manager.get_captured_local_path(log_key, IO_TYPE_EXTENSION[kind])
            for kind in (ComputeIOType.STDOUT, ComputeIOType.STDERR)
        )
        os.makedirs(os.path.dirname(out), exist_ok=True)  # noqa: PTH103, PTH120 - Dagster's paths are texts
        with redirect_to_file(sys.stdout, out), redirect_to_file(sys.stderr, err):
            yield CapturedLogContext(log_key)
        with open(manager.get_captured_local_path(log_key, "complete"), "a"):  # noqa: PTH123
            pass

    manager.capture_logs = capture_logs  # type: ignore[method-assign]


def remove_step_logs(instance: dg.DagsterInstance, before: datetime, most: int) -> int:
    """Remove the output files of at most `most` runs that last wrote before an instant. Returns the number of runs.

    Dagster keeps these files for ever. Other log managers than files are not affected.
    """
    manager = instance.compute_log_manager
    if not isinstance(manager, LocalComputeLogManager):
        return 0
    base = Path(manager.get_captured_local_path(["any"], "out")).parent
    folders = (folder for folder in base.glob("*/compute_logs") if _newest(folder) < before.timestamp())
    removed = 0
    for folder in islice(folders, most):
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # other files of a run stay
            folder.parent.rmdir()
        removed += 1
    return removed


def _newest(folder: Path) -> float:
    return max((path.stat().st_mtime for path in (folder, *folder.iterdir())), default=0.0)
