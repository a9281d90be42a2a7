"""A real broker for these tests."""

from tests.components.fixtures import kafka_server

__all__ = ["kafka_server"]
