"""A folder on disk as the contract wants it, and what only a disk has."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from tidemark.storage.local_files import LocalFiles
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from pathlib import Path


def test_written_files_are_private_to_their_owner(tmp_path: Path) -> None:
    store = stored_files(tmp_path / "lake")
    store.put("part=1/a", b"x")
    assert store.put_if_absent("part=1/b", b"x")
    rights = [stat.S_IMODE((tmp_path / "lake" / name).stat().st_mode) for name in ("part=1", "part=1/a", "part=1/b")]
    assert rights == [0o700, 0o600, 0o600]
    assert sorted(path.name for path in (tmp_path / "lake" / "part=1").iterdir()) == ["a", "b"]


def test_hadoops_checksum_goes_with_its_file(tmp_path: Path) -> None:
    for name in ("a.parquet", ".a.parquet.crc", ".b.parquet.crc"):
        (tmp_path / name).touch()
    LocalFiles(tmp_path).delete(["a.parquet"])
    assert [path.name for path in tmp_path.iterdir()] == [".b.parquet.crc"]


def test_a_folder_has_another_mark_after_a_change(tmp_path: Path) -> None:
    store = LocalFiles(tmp_path)
    assert store.folder_mark("log") is None
    store.put("log/0", b"x")
    os.utime(tmp_path / "log", (1, 1))  # the clock of a file system ticks in milliseconds
    before = store.folder_mark("log")
    assert store.folder_mark("log") == before
    store.put("log/1", b"x")
    assert store.folder_mark("log") not in {before, None}


def test_a_uri_is_a_name_here_or_a_path_elsewhere(tmp_path: Path) -> None:
    store = LocalFiles(tmp_path)
    (tmp_path / "x y").write_text("here")
    assert store.name_of(f"file://{tmp_path}/part%3D1/x%20y") == "part=1/x y"
    assert store.read(store.name_of(f"file:{tmp_path}/x%20y")) == b"here"
    assert store.name_of("file:///elsewhere/f") == "/elsewhere/f"
