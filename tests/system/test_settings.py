"""Settings come from the environment once, or are refused with the variable's name."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.project import write_project
from tidemark.system.errors import NoProjectError, SettingsError
from tidemark.system.settings import Settings


def test_without_environment_everything_is_in_the_project(tmp_path: Path) -> None:
    root = write_project(tmp_path, {})
    settings = Settings.load({"TIDEMARK_ROOT": str(root)})
    assert (settings.root, settings.data, settings.dagster_home) == (root, root / "data", root / "dagster_home")
    assert settings.landing == settings.data / "landing"
    assert (settings.olap, settings.time_zone, settings.spark_master) == ("duckdb", "Europe/Paris", "local[*]")


def test_the_file_says_where_things_are_from_its_folder(tmp_path: Path) -> None:
    root = write_project(tmp_path / "p", {}, "data: ../lake\ndagster_home: /srv/dagster\nlayers: [raw, mart]\n")
    settings = Settings.load({"TIDEMARK_ROOT": str(root)})
    assert settings.data.resolve() == tmp_path / "lake"
    assert settings.landing == settings.data / "landing"
    assert (settings.dagster_home, settings.layers) == (Path("/srv/dagster"), ("raw", "mart"))
    assert (settings.time_zone, settings.week_start) == ("UTC", "monday")


def test_the_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_project(tmp_path / "p", {}, "data: lake\npools: default=4\n")
    monkeypatch.chdir(tmp_path)
    env = {"TIDEMARK_ROOT": "p", "TIDEMARK_DATA": "mine", "DAGSTER_HOME": "home", "TIDEMARK_LAYERS": "raw, mart"}
    settings = Settings.load(env)
    assert (settings.root, settings.data, settings.dagster_home) == (root, tmp_path / "mine", tmp_path / "home")
    assert (settings.pools, settings.layers) == ("default=4", ("raw", "mart"))


def test_the_project_is_found_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_project(tmp_path / "p", {"dws/.keep": ""})
    monkeypatch.chdir(root / "warehouse_assets" / "dws")
    assert Settings.load({}).root == root


def test_outside_of_a_project_the_error_lists_searched_places_and_a_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoProjectError, match=f"none in {tmp_path} or above") as error:
        Settings.load({})
    assert all(word in (error.value.hint or "") for word in ("tidemark init", "cd", "--root"))
    with pytest.raises(NoProjectError, match="the file does not exist"):
        Settings.load({"TIDEMARK_ROOT": str(tmp_path)})


@pytest.mark.parametrize(
    "line",
    [
        "olap: postgresql+psycopg2://u:canary@h/db",
        "state: postgresql+psycopg2://h/db?user=u&password=canary",
        "databases: a=mysql://u:canary@h/db",
        "kafka_password: canary",
        "token: canary",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    root = write_project(tmp_path, {}, f"time_zone: UTC\n{line}\n")
    with pytest.raises(SettingsError, match=r"tidemark.yaml:2: there is a secret in") as error:
        Settings.load({"TIDEMARK_ROOT": str(root)})
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time_zon: UTC", "did you mean 'time_zone'?"),
        ("time_zone: Europe/Pris", "tidemark.yaml:1: .*an IANA name"),
        ("week_start: someday", "not a day of the week"),
        ("holidays: FRR", "unknown calendar of holidays"),
        ("layers: [../x]", "tidemark.yaml:1"),
        ("- a", "not a mapping"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path, text: str, says: str) -> None:
    root = write_project(tmp_path, {}, text)
    with pytest.raises(SettingsError, match=says):
        Settings.load({"TIDEMARK_ROOT": str(root)})


def test_the_environment_decides(tmp_path: Path) -> None:
    settings = Settings.load({"TIDEMARK_DATA": str(tmp_path), "TIDEMARK_TIME_ZONE": "Asia/Kolkata", "PATH": "/bin"})
    assert (settings.warehouse, settings.time_zone) == (tmp_path / "warehouse", "Asia/Kolkata")


def test_a_wrong_value_is_refused_with_the_name_of_the_variable() -> None:
    with pytest.raises(SettingsError, match=r"TIDEMARK_TIME_ZONE: .*'Europe/Pris'.*an IANA name"):
        Settings.load({"TIDEMARK_TIME_ZONE": "Europe/Pris"})


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    with pytest.raises(ValidationError, match="frozen"):
        settings.olap = "other"


def test_partition_columns_of_the_file_and_of_the_environment(tmp_path: Path) -> None:
    root = str(write_project(tmp_path, {}, "partition_columns: {ds: int yyyyMMdd, hh: HH}\n"))
    settings = Settings.load({"TIDEMARK_ROOT": root})
    assert settings.declaration_defaults["partition_columns"] == {"ds": "int yyyyMMdd", "hh": "HH"}
    assert hash(settings)
    other = Settings.load({"TIDEMARK_ROOT": root, "TIDEMARK_PARTITION_COLUMNS": "p_date=date, hh=HH"})
    assert other.declaration_defaults["partition_columns"] == {"p_date": "date", "hh": "HH"}
    assert (
        "partition_columns"
        not in Settings.load({"TIDEMARK_ROOT": str(write_project(tmp_path / "q", {}))}).declaration_defaults
    )
    with pytest.raises(SettingsError, match="does not grow with time"):
        Settings.load({"TIDEMARK_ROOT": root, "TIDEMARK_PARTITION_COLUMNS": "ds=ddMM"})
