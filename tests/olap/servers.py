"""How the OLAP tests reach the PostgreSQL server that the component tests start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import make_url

if TYPE_CHECKING:
    from tests.components.postgres import Postgres

PASSWORD = "s3cret-tide"


def url_of(server: Postgres) -> str:
    """As a setting names it, with a password: the server asks for none, but no message may show it."""
    url = make_url(server.url).set(password=PASSWORD)
    return url.render_as_string(hide_password=False)
