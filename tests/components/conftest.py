"""The real servers, for the tests of this folder."""

from tests.components.fixtures import kafka_server, mariadb_server, postgres_server

__all__ = ["kafka_server", "mariadb_server", "postgres_server"]
