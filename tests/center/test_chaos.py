"""Killed anywhere and started again: nothing is lost, doubled or early, and nothing is stuck."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest

from tests.center.chaos import killed_until_done, problems, start
from tests.components.availability import POSTGRESQL, require
from tests.components.postgres import postgres
from tests.examples import each
from tests.state_store.conftest import BOTH, empty_database

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


@pytest.mark.slow
@pytest.mark.parametrize("kind", each(2, BOTH))
def test_killed_at_any_point(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgres_server").url if kind == "postgresql" else ""
    assert trials(server, tmp_path, range(6)) > 3


def killed_servers(folder: Path, seeds: range) -> int:
    """The database server is killed while a process works; how often, over these seeds."""
    kills = 0
    with postgres() as server:
        running = server
        for seed in seeds:
            chance = random.Random(seed)
            url, file = empty_database(running.url, folder), folder / f"runs-{seed}.jsonl"
            pid = start(url, file, seed, None)
            for _ in range(chance.randrange(1, 3)):
                time.sleep(chance.random() * 0.15)
                running = running.killed_and_started_again()
                kills += 1
            assert os.waitpid(pid, 0)[1] == 0, f"seed {seed}: stuck, or an error"
            assert problems(url, file) == [], f"seed {seed}"
        running.server.stop()
    return kills


@pytest.mark.components
def test_the_database_server_is_killed(tmp_path: Path) -> None:
    require(POSTGRESQL)
    assert killed_servers(tmp_path, range(3)) >= 3


@pytest.mark.long
@pytest.mark.components
@pytest.mark.timeout(3_600)
def test_the_database_server_is_killed_over_two_hundred_seeds(tmp_path: Path) -> None:
    require(POSTGRESQL)
    assert killed_servers(tmp_path, range(2_000, 2_200)) >= 200


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", BOTH)
def test_killed_at_any_point_over_two_hundred_seeds(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgres_server").url if kind == "postgresql" else ""
    assert trials(server, tmp_path, range(1_000, 1_200)) > 150
