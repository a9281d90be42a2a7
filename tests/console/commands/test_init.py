"""`tidemark init`: what it writes is a project, the same that this repository is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.project import CHECKOUT
from tidemark.console.main import main
from tidemark.console.project_files import sample_files
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

OWN = {"pyproject.toml", "README.md", ".gitignore", "tests/test_declarations.py"}
"""Files that a project has and this repository has in another form."""


def init(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["init", *arguments])


def check(root: Path, storage: Path) -> str:
    """What `tidemark check` says of a project of which nothing was computed, whatever was in its own folder."""
    env = {"TIDEMARK_DATA": str(storage / "data"), "DAGSTER_HOME": str(storage / "home")}
    return CliRunner().invoke(main, ["--root", str(root), "check"], env=env).stdout


@pytest.mark.slow
def test_the_sample_is_this_repositorys_project(tmp_path: Path) -> None:
    root = tmp_path / "school"
    result = init(str(root), "--sample", "school", "--json")
    assert result.exit_code == 0, result.output
    written = set(json.loads(result.stdout)["files"])
    assert written == {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert written >= OWN
    for name in written - OWN:
        assert (root / name).read_bytes() == (CHECKOUT / name).read_bytes(), name
    assert not any(path.is_symlink() for path in root.rglob("*"))
    assert check(root, tmp_path / "own") == check(CHECKOUT, tmp_path / "checkout")


def test_nothing_of_the_repositorys_project_is_forgotten() -> None:
    folders = ("warehouse_assets", "sensors", "resources")
    files = {path.relative_to(CHECKOUT) for name in folders for path in (CHECKOUT / name).rglob("*") if path.is_file()}
    present = {path.as_posix() for path in files if "__pycache__" not in path.parts}
    present |= {"dagster_home/dagster.yaml", "workspace.yaml", "tidemark.yaml"}
    assert present == {place.as_posix() for place in sample_files()} - OWN


def test_an_empty_project_declares_nothing_and_is_sound(tmp_path: Path) -> None:
    root = tmp_path / "my shop"
    result = init(str(root), "--empty", "--time-zone", "Asia/Kolkata")
    assert result.exit_code == 0, result.output
    settings = Settings.load({"TIDEMARK_ROOT": str(root)})
    assert (settings.time_zone, settings.layers[0]) == ("Asia/Kolkata", "ods")
    assert not load_warehouse(settings).entities
    assert check(root, tmp_path / "storage") == "0 entities, 0 dependencies: no problems\n"
    assert 'name = "my_shop"' in (root / "pyproject.toml").read_text()


def test_the_tiny_sample_has_two_days_of_files_that_its_tables_wait_for(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    result = init(str(root), "--sample", "tiny", "--json")
    assert result.exit_code == 0, result.output
    written = set(json.loads(result.stdout)["files"])
    assert written == {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert check(root, tmp_path / "storage") == "4 entities, 3 dependencies: no problems\n"
    first, last = sorted(folder.name for folder in (root / "landing" / "orders").iterdir())
    assert yaml.safe_load((root / "warehouse_assets" / "project.yaml").read_text())["start"].isoformat() == first
    for day in (first, last):
        looked = CliRunner().invoke(main, ["--root", str(root), "probe", "ods_orders", day])
        assert looked.stdout.startswith(f"ods_orders_source@{day} is there: 1 files"), looked.output


@pytest.mark.parametrize("sample", [["--empty"], ["--sample", "tiny"]])
def test_the_steps_that_are_printed_are_commands_of_a_new_project(sample: list[str], tmp_path: Path) -> None:
    """As printed: all but those that wait (`up`), look at what was computed, or name somebody's own folder."""
    result = init(str(tmp_path / "shop"), *sample)
    steps = [line.split("   ")[0].split() for line in result.stdout.splitlines() if line.startswith("  tidemark ")]
    assert [step[1] for step in steps][:2] == ["check", "up"]
    for _, name, *arguments in steps:
        if name in ("check", "status"):
            done = CliRunner().invoke(main, ["--root", str(tmp_path / "shop"), name, *arguments])
            assert done.exit_code == 0, done.output


def test_a_new_project_begins_in_utc(tmp_path: Path) -> None:
    assert init(str(tmp_path / "p")).exit_code == 0
    assert yaml.safe_load((tmp_path / "p" / "tidemark.yaml").read_text())["time_zone"] == "UTC"


def test_a_folder_that_holds_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = init(str(tmp_path))
    assert (result.exit_code, "nothing was written" in result.output) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "arguments", [("--empty", "--sample", "school"), ("--time-zone", "Mars/Base"), ("--root", "x")]
)
def test_called_wrongly_it_writes_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert init(str(tmp_path / "p"), *arguments).exit_code == 2
    assert not (tmp_path / "p").exists()
