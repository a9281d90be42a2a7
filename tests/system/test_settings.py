"""Settings come from the environment once, or are refused with the variable's name."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tidemark.system.errors import SettingsError
from tidemark.system.settings import Settings, repository_root


def test_without_environment_everything_is_under_the_repository() -> None:
    settings = Settings.load({})
    assert settings.data == repository_root() / "data"
    assert settings.landing == settings.data / "landing"
    assert (settings.olap, settings.time_zone, settings.spark_master) == ("duckdb", "Europe/Paris", "local[*]")
    assert (settings.root / "workspace.yaml").is_file()


def test_the_environment_decides(tmp_path: Path) -> None:
    settings = Settings.load({"TIDEMARK_DATA": str(tmp_path), "TIDEMARK_TIME_ZONE": "Asia/Kolkata", "PATH": "/bin"})
    assert (settings.warehouse, settings.time_zone) == (tmp_path / "warehouse", "Asia/Kolkata")


def test_a_wrong_value_is_refused_with_the_name_of_the_variable() -> None:
    with pytest.raises(SettingsError, match=r"TIDEMARK_TIME_ZONE: .*'Europe/Pris'.*IANA time zone"):
        Settings.load({"TIDEMARK_TIME_ZONE": "Europe/Pris"})


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    with pytest.raises(ValidationError, match="frozen"):
        settings.olap = "other"
