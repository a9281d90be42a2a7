"""The PostgreSQL fixture gives a server that one can write to."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg2
import pytest

if TYPE_CHECKING:
    from tests.components.postgres import Postgres


@pytest.mark.components
def test_a_started_server_takes_and_gives_rows(postgres_server: Postgres) -> None:
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE note (body text)")
        cursor.execute("INSERT INTO note VALUES (%s)", ("été 🌊",))
        cursor.execute("SELECT body FROM note")
        assert cursor.fetchall() == [("été 🌊",)]
