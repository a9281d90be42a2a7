"""A reader's claim is locked from the first moment at which anybody can see it."""

import fcntl
import os
from pathlib import Path
from typing import IO, Any

import pytest

from tidemark.delta.active_readers import claims_of_readers, reading


def test_who_looks_while_a_claim_is_made_removes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, lock = tmp_path / "t", fcntl.flock
    looked: list[int] = []

    def look_then_lock(file: IO[Any], how: int) -> None:
        if how == fcntl.LOCK_SH:
            looked.append(len(claims_of_readers(tmp_path, table)))
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", look_then_lock)
    with reading(tmp_path, table, 7, "a query"):
        assert looked == [0]
        assert [(claim.version, claim.reason) for claim in claims_of_readers(tmp_path, table)] == [
            (7, "read by a query")
        ]
    assert claims_of_readers(tmp_path, table) == []
    assert list((tmp_path / "readers" / "t").iterdir()) == []


def test_what_a_reader_left_that_died_before_its_claim_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "readers" / "t"
    folder.mkdir(parents=True)
    for name, age in (("old", 7200), ("new", 0)):
        (folder / name).touch()
        when = (folder / name).stat().st_mtime - age
        os.utime(folder / name, (when, when))
    assert claims_of_readers(tmp_path, tmp_path / "t") == []
    assert [path.name for path in folder.iterdir()] == ["new"]
