"""Killed anywhere and started again: nothing is lost, doubled or early, and nothing is stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.resources.state_store.conftest import BOTH, empty_database
from tests.sensors.dependency_center.chaos import killed_until_done, problems

if TYPE_CHECKING:
    from pathlib import Path


def trials(url: str, folder: Path, seeds: range) -> int:
    """How often the process was killed over these seeds; each has to end well."""
    kills = 0
    for seed in seeds:
        own, file = empty_database(url, folder), folder / f"runs-{seed}.jsonl"
        kills += killed_until_done(own, file, seed)
        assert problems(own, file) == [], f"seed {seed}"
    return kills


@pytest.mark.parametrize("kind", BOTH)
def test_killed_at_any_point(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgres_server").dsn if kind == "postgresql" else ""
    assert trials(server, tmp_path, range(6)) > 3


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", BOTH)
def test_killed_at_any_point_over_two_hundred_seeds(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgres_server").dsn if kind == "postgresql" else ""
    assert trials(server, tmp_path, range(1_000, 1_200)) > 150
