"""Real servers as pytest fixtures: one of each a test session, started when the first test asks for it.

A server that is not installed skips the test, with CI=true it fails it; the absence of an object store's
or HDFS's servers only ever skips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components import azure_server, gcs_server, hdfs_server, postgres, s3_server, varnish
from tests.components.availability import KAFKA, MARIADB, POSTGRESQL, REDIS, VARNISH, require
from tests.components.redis_server import RedisServer, running_redis
from tests.lake_folder import BUCKETS, lake_server
from tidemark.console.servers import kafka, mariadb
from tidemark.console.servers.jars import jars

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.components, pytest.mark.xdist_group("postgresql")])
"""A parameter of tests that ask for the PostgreSQL server themselves, where others need none."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL server; its `dsn` is what one connects to."""
    require(POSTGRESQL)
    with postgres.postgres() as running:
        yield running


@pytest.fixture(scope="session")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[mariadb.MariaDb]:
    """A MariaDB server with row binlog."""
    require(MARIADB)
    with mariadb.mariadb("a", 1, tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture(scope="session")
def kafka_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kafka.Kafka]:
    """A Kafka broker."""
    require(KAFKA)
    with kafka.kafka(jars(), tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server."""
    require(REDIS)
    with running_redis(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(scope="session")
def cached_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[varnish.CachedPages]:
    """Pages behind a Varnish."""
    require(VARNISH)
    with varnish.varnish(tmp_path_factory.mktemp("varnish")) as running:
        yield running


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3_server.S3Server]:
    """An S3 server; the process finds its credentials as it would those of any other.

    Where the run has its lakes in it, its bucket is the folder of all tests.
    """
    bucket = tmp_path_factory.getbasetemp() if lake_server() == "object_store" else None
    with s3_server.s3_server(tmp_path_factory.mktemp("s3"), bucket) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**running.environment, BUCKETS: str(running.folder)}.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture(scope="session")
def gcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gcs_server.GcsServer]:
    """A server of Google Cloud Storage's API; the process finds it as Google's own tools do."""
    with gcs_server.gcs_server(tmp_path_factory.mktemp("gcs")) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**running.environment, BUCKETS: str(running.folder)}.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[azure_server.AzureServer]:
    """A server of Azure's storage; the process finds it and its key as it would any other's."""
    with azure_server.azure_server(tmp_path_factory.mktemp("azure")) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hdfs_server.HdfsServer]:
    """An HDFS; the process finds it and its user as it would any other's."""
    with hdfs_server.hdfs_server(tmp_path_factory.mktemp("hdfs")) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running
