"""Hosts with the same sources have the same code, wherever these lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.warm_runs.shared_runs import content_identity

if TYPE_CHECKING:
    from pathlib import Path


def package(folder: Path, **files: str) -> Path:
    made = folder / "assets"
    for name, text in files.items():
        (made / name).mkdir(parents=True, exist_ok=True)
        (made / name / "of.sql").write_text(text)
    return made


def test_the_same_files_elsewhere_are_the_same_code(tmp_path: Path) -> None:
    first, second = (package(tmp_path / host, ods="SELECT 1", dwd="SELECT 2") for host in ("a", "b"))
    assert content_identity([first]) == content_identity([second])


def test_other_bytes_other_names_and_other_places_are_other_code(tmp_path: Path) -> None:
    folders = [
        package(tmp_path / "a", ods="SELECT 1", dwd="SELECT 2"),
        package(tmp_path / "b", ods="SELECT 1", dwd="SELECT 3"),
        package(tmp_path / "c", ods="SELECT 2", dwd="SELECT 1"),
        package(tmp_path / "d", ods="SELECT 1", dws="SELECT 2"),
        package(tmp_path / "e", ods="SELECT 1"),
    ]
    assert len({content_identity([folder]) for folder in folders}) == len(folders)
