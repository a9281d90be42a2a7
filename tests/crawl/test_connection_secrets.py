"""Variables of connection settings: the project's folders are known, everything else is a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_projects_folders_follow_its_settings_and_are_not_secrets(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path / "data")
    secrets = ConnectionSecrets.of(settings, {"TIDEMARK_DATA": "/elsewhere", "PARTNER": "canary"})
    told = secrets.fill("${TIDEMARK_DATA}|${TIDEMARK_WAREHOUSE}|${PARTNER}")
    assert told == f"{settings.data}|{settings.warehouse}|canary"
    assert secrets.mask(told) == f"{settings.data}|{settings.warehouse}|***"


def test_a_path_without_a_beginning_begins_in_the_projects_folder(tmp_path: Path) -> None:
    secrets = ConnectionSecrets({"PLACE": "s3://bucket"}, root=tmp_path)
    assert secrets.place("landing/a.csv") == str(tmp_path / "landing" / "a.csv")
    assert secrets.place("/landing/a.csv") == "/landing/a.csv"
    assert secrets.place("${PLACE}/a.csv") == "s3://bucket/a.csv"
