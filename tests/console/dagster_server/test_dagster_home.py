"""Where Dagster keeps its storage, and with what configuration."""

from __future__ import annotations

import shutil
import stat
from typing import TYPE_CHECKING

import pytest
import yaml
from dagster import DagsterInstance

from tests.project import write_project
from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home
from tidemark.console.dagster_server.errors import ForeignHomeError, HomeUnreadableError
from tidemark.console.preflight import machine
from tidemark.system.settings import Settings
from tidemark.warm_runs.launcher import WarmRunLauncher

if TYPE_CHECKING:
    from pathlib import Path


def test_beside_the_code_unless_it_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.at(tmp_path)
    monkeypatch.chdir(tmp_path)

    assert dagster_home(settings, {}) == settings.root / "dagster_home"
    assert dagster_home(settings, {"DAGSTER_HOME": ""}) == settings.root / "dagster_home"
    assert dagster_home(settings, {"DAGSTER_HOME": "mine"}) == tmp_path / "mine"


def test_a_home_is_for_its_owner_alone_from_its_first_use_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    assert machine.private("Rows", home).verdict == "warning"
    prepare_home(Settings.at(tmp_path / "data"), home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert machine.private("Rows", home).verdict == "ok"
    home.chmod(0o750)
    prepare_home(Settings.at(tmp_path / "data"), home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o750, "what somebody gave since is kept"


def test_a_new_home_gets_our_configuration_and_a_users_own_is_kept(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "dagster.yaml").write_text("telemetry: {enabled: true}\n")

    prepare_home(settings, tmp_path / "new" / "home")
    prepare_home(settings, tmp_path / "own")

    ours = yaml.safe_load((tmp_path / "new" / "home" / "dagster.yaml").read_text())
    assert ours["telemetry"] == {"enabled": False}
    assert (tmp_path / "own" / "dagster.yaml").read_text() == "telemetry: {enabled: true}\n"


def test_a_home_that_the_environment_names_gets_the_projects_configuration(tmp_path: Path) -> None:
    root = write_project(tmp_path / "p", {})
    settings = Settings.load({"TIDEMARK_ROOT": str(root), "DAGSTER_HOME": str(tmp_path / "home")})
    prepare_home(settings, settings.dagster_home)
    assert "WarmRunLauncher" in (tmp_path / "home" / "dagster.yaml").read_text()

    (root / "dagster_home").mkdir()
    (root / "dagster_home" / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    prepare_home(settings, tmp_path / "another")
    assert (tmp_path / "another" / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_a_home_whose_data_is_gone_or_elsewhere_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Its events say that slices are complete which are not there."""
    settings, home = Settings.at(tmp_path / "data"), tmp_path / "home"
    prepare_home(settings, home)
    prepare_home(settings, home)
    shutil.rmtree(settings.data)
    with pytest.raises(ForeignHomeError, match="start with an empty DAGSTER_HOME"):
        prepare_home(settings, home)
    assert list(settings.data.iterdir()) == []

    prepare_home(settings, tmp_path / "another")
    with pytest.raises(ForeignHomeError, match="belongs to another data folder"):
        prepare_home(settings, home)


def test_data_may_get_a_new_home(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    for name in ("one", "two", "one"):
        prepare_home(settings, tmp_path / name)
    assert len({(tmp_path / name / "warehouse_id").read_text() for name in ("one", "two")}) == 1


def test_how_much_runs_at_once_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_POOLS", "default=3, heavy=1")
    prepare_home(Settings.at(tmp_path), tmp_path)
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert isinstance(instance.run_launcher, WarmRunLauncher)
        assert queue.max_concurrent_runs == instance.run_launcher.options.workers == Settings.load().slots == 4


def test_dagster_accepts_our_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEMARK_POOLS", raising=False)
    prepare_home(Settings.at(tmp_path), tmp_path)

    with DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.telemetry_enabled is False
        assert instance.nux_enabled is False
        assert instance.run_monitoring_enabled is True
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert queue.max_concurrent_runs == 2
        assert instance.root_directory == str(tmp_path)


@pytest.mark.parametrize("text", ["storage: [", "storage: {sqlite: {base_dir: 1, other: 2}}", "unknown: {}"])
def test_a_configuration_that_dagster_does_not_accept_is_named(text: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text(text)
    with pytest.raises(HomeUnreadableError, match="cannot be read"):
        prepare_home(Settings.at(tmp_path / "data"), home)
