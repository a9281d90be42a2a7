"""What a run changes of its process, the next one does not see."""

import decimal
import os
import tempfile
from pathlib import Path

import pytest

from tidemark.warm_runs.execution import restore_process_afterwards


def _change_everything(folder: Path) -> None:
    os.environ["TIDEMARK_LEAKED"] = "1"
    os.environ["PATH"] = "changed"
    del os.environ["TIDEMARK_REMOVED"]
    os.chdir(folder)
    decimal.getcontext().prec = 5
    decimal.setcontext(decimal.Context(prec=7))
    tempfile.tempdir = str(folder)
    os.umask(0)


def _interrupted(folder: Path) -> None:
    with restore_process_afterwards():
        _change_everything(folder)
        raise KeyboardInterrupt


def test_all_is_as_before_however_the_run_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_REMOVED", "there")
    before = (dict(os.environ), Path.cwd(), decimal.getcontext().prec, tempfile.tempdir)
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path)
    assert (dict(os.environ), Path.cwd(), decimal.getcontext().prec, tempfile.tempdir) == before
    mask = os.umask(0o022)
    os.umask(mask)
    assert mask != 0


def test_a_folder_that_the_run_removed_is_left(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    with restore_process_afterwards():
        os.chdir(gone)
        gone.rmdir()
    assert Path.cwd() == before
