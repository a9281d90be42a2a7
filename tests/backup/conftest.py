"""One shop with a day of stock, and one backup of it; each test has a copy of its own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.backup.depot import Depot

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="package")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders `depot` and `backup`."""
    folder = tmp_path_factory.mktemp("kept")
    depot = Depot.at(folder / "depot")
    depot.compute("2026-03-01", [1, 2])
    depot.backup(folder / "backup")
    return folder


@pytest.fixture
def depot(kept: Path, tmp_path: Path) -> Depot:
    shutil.copytree(kept / "depot", tmp_path / "depot")
    return Depot(tmp_path / "depot")


@pytest.fixture
def backup(kept: Path, tmp_path: Path) -> Path:
    """Made of the same shop, with its lake."""
    return shutil.copytree(kept / "backup", tmp_path / "backup")
