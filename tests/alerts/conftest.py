"""Every test of the alerts' tables runs on both databases."""

from tests.state_store.conftest import database, url

__all__ = ["database", "url"]
