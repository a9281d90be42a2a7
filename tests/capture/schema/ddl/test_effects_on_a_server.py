"""What statements do to rows, against a MariaDB that executes them: known effects are the server's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.capture.schema.ddl.altered_tables import DATABASE, MODES, TABLES, trial, tried

if TYPE_CHECKING:
    from tidemark.console.servers.mariadb import MariaDb

pytestmark = pytest.mark.components


@pytest.mark.parametrize("count", [12, pytest.param(1_200, marks=pytest.mark.long)])
def test_no_effect_is_another_one_than_the_servers(mariadb_server: MariaDb, count: int) -> None:
    """So many statements in each of three modes on each of three kinds of tables; who accepts what is the server's."""
    outcomes: Counter[str] = Counter()
    with mariadb_server.connect() as session, session.cursor() as cursor:
        for statement in (
            f"DROP DATABASE IF EXISTS {DATABASE}",
            f"CREATE DATABASE {DATABASE}",
            f"USE {DATABASE}",
            "SET NAMES utf8mb4",
            "CREATE TABLE p (id INT PRIMARY KEY)",
            "INSERT INTO p VALUES (1)",
        ):
            cursor.execute(statement)
        for made in (trial(seed, mode, kind) for seed in range(count) for mode in MODES for kind in TABLES):
            outcome = tried(cursor, made)
            assert outcome is not None, str(made)
            outcomes[outcome] += 1
        cursor.execute(f"DROP DATABASE {DATABASE}")
    assert min(outcomes["known"], outcomes["held"]) > count
