"""What makes workers load everything again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.warm_runs.source_version import source_version

if TYPE_CHECKING:
    from pathlib import Path


def test_every_change_of_a_source_or_of_the_plans_is_another_version(tmp_path: Path) -> None:
    folder, cache = tmp_path / "declared", tmp_path / "cache"
    (folder / "dwd").mkdir(parents=True)
    versions = [source_version([folder], cache)]
    (folder / "dwd" / "a.sql").write_text("SELECT 1")
    versions.append(source_version([folder], cache))
    (folder / "dwd" / "a.sql").rename(folder / "dwd" / "b.sql")
    versions.append(source_version([folder], cache))
    cache.mkdir()
    (cache / "plans-0.json").write_text("{}")
    versions.append(source_version([folder], cache))
    (cache / "plans-0.json").unlink()
    (folder / "dwd" / "b.sql").unlink()
    assert len(set(versions)) == 4
    assert source_version([folder], cache) == versions[0]


def test_other_files_change_nothing(tmp_path: Path) -> None:
    before = source_version([tmp_path], tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.py").write_text("")
    (tmp_path / "readme.md").write_text("")
    (tmp_path / "sql-0.json").write_text("{}")
    assert source_version([tmp_path], tmp_path) == before
