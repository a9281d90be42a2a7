"""A path that cannot be written is refused in words, before anything is begun."""

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import tidemark
from tidemark.system.errors import DiskPathError
from tidemark.system.files import private_file, replace_text, writable_directory


def test_a_missing_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    made = writable_directory(tmp_path / "a" / "b")
    assert made.is_dir()
    assert list(made.iterdir()) == []


def test_new_folders_are_private_and_existing_ones_keep_their_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    made = writable_directory(tmp_path / "a" / "b")
    file = private_file(tmp_path / "c" / "state.db")
    assert [rights(path) for path in (made, made.parent, file.parent, file)] == [0o700, 0o700, 0o700, 0o600]
    assert rights(tmp_path) == 0o755
    file.write_text("kept")
    file.chmod(0o640)
    assert private_file(file).read_text() == "kept"
    assert rights(file) == 0o640


def test_a_process_that_keeps_files_private_hands_it_on(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys; from tidemark.system.files import keep_files_private; keep_files_private();"
        "open('a', 'w'); subprocess.run([sys.executable, '-c', 'import os; os.mkdir(chr(98))'], check=True)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert (rights(tmp_path / "a"), rights(tmp_path / "b")) == (0o600, 0o700)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Folders of the user's project, in version control; jars, which everybody may read; logs, in Dagster's home.
_OTHERS = {
    "console/commands/completion.py",
    "console/commands/new.py",
    "console/project_files.py",
    "console/servers/jars.py",
    "dagster_internals/step_output_files.py",
    "spark/jars.py",
    "spark/write_class_archive.py",
    "system/files.py",
    "warehouse/cache_file.py",
}


def test_every_folder_of_data_is_made_for_its_owner() -> None:
    engine = Path(tidemark.__file__).parent
    makers = {
        str(file.relative_to(engine))
        for file in engine.rglob("*.py")
        if re.search(r"\.mkdir\(|os\.makedirs\(", file.read_text(encoding="utf-8"))
    }
    assert makers == _OTHERS


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    for path in (tmp_path / "data", tmp_path / "data" / "warehouse"):
        with pytest.raises(DiskPathError, match=rf"{path}: the folder cannot be written: .*TIDEMARK_DATA"):
            writable_directory(path)


def test_a_file_system_that_refuses_is_named() -> None:
    with pytest.raises(DiskPathError, match="/proc/tidemark"):
        writable_directory(Path("/proc/tidemark"))


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "capture" / "halted.json"
    for text in ("[1, 2, 3]", "[]"):
        replace_text(path, text)
        assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]
    path.with_suffix(".locked").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_text(path.with_suffix(".locked"), "text")
    assert path.read_text() == "[]"
