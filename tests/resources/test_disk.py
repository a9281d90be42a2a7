"""A path that cannot be written is refused in words, before anything is begun."""

from pathlib import Path

import pytest

from resources.disk import writable_directory
from resources.errors import DiskPathError


def test_a_missing_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    made = writable_directory(tmp_path / "a" / "b")
    assert made.is_dir()
    assert list(made.iterdir()) == []


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    for path in (tmp_path / "data", tmp_path / "data" / "warehouse"):
        with pytest.raises(DiskPathError, match=rf"{path}: cannot be written: .*TIDEMARK_DATA"):
            writable_directory(path)


def test_a_file_system_that_refuses_is_named() -> None:
    with pytest.raises(DiskPathError, match="/proc/tidemark"):
        writable_directory(Path("/proc/tidemark"))
