"""Fixtures of the sensors' tests."""

from tests.components.fixtures import postgres_server  # noqa: F401 - a fixture
