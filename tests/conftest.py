"""What all tests share: one Spark session, and one replay of the recording for the demo's tests and the UI's."""

import gc
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from tests.components.fixtures import (
    azure,
    cached_pages,
    gcs,
    hdfs,
    kafka_server,
    mariadb_server,
    object_store,
    postgres_server,
    redis_server,
)
from tests.examples import load_profile
from tests.kept_inferences import keep_inferences
from tests.lake_folder import lake_server
from tests.seeds import SEED, choose_fresh
from tests.world import FIRST_DAY, UNTIL_FIRST_DAY, WHOLE, DemoWorld
from tidemark.spark.session import spark_session
from tidemark.system.garbage_collection import freeze_live_objects
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

if TYPE_CHECKING:
    from tests.components.azure_server import AzureServer
    from tests.components.gcs_server import GcsServer
    from tests.components.hdfs_server import HdfsServer
    from tests.components.s3_server import S3Server

__all__ = [
    "azure",
    "cached_pages",
    "gcs",
    "hdfs",
    "kafka_server",
    "mariadb_server",
    "object_store",
    "postgres_server",
    "redis_server",
]

_SERVERS = {
    "azure": "azure",
    "cached_pages": "varnish",
    "gcs": "gcs",
    "hdfs": "hdfs",
    "kafka_server": "kafka",
    "mariadb_server": "mariadb",
    "object_store": "s3",
    "postgres_server": "postgresql",
    "redis_server": "redis",
}
_OF_LONG_TESTS = ("azure", "gcs", "hdfs")
"""The disk and S3 keep the contract of stores in every run of the tests: docs/testing.md."""
# A guard against hanging, not a measure: the demo's own time is in benchmarks/RESULTS.md.
_DEMO_SECONDS = 1800
# With it PySpark asks the JVM for the session, a setting and the place of the call at each operation on a column, so
# that an error may say which line made the column: a tenth of the tests' CPU time.
_PLAIN_ERRORS = {"spark.python.sql.dataFrameDebugging.enabled": "false"}


@pytest.fixture(autouse=True)
def _own_project() -> Iterator[None]:
    """The project and the Dagster home of one test's command are not those of the next test in this process.

    Commands put both into the environment, where the processes that they start look for them, and leave them there.
    """
    before = {name: os.environ.get(name) for name in (ROOT_VARIABLE, "DAGSTER_HOME")}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session", autouse=True)
def _kept_inferences() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        keep_inferences(patch)
        yield


@pytest.fixture(autouse=True)
def _own_rights() -> Iterator[None]:
    """A command keeps the files of its process private; servers of other tests run as other accounts."""
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)


@pytest.fixture(autouse=True)
def _no_hidden_session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who starts Spark says so by a marker: the JVM stays in the process, and its CPU seconds in each run of tests."""
    if not _starts_spark(request.node):
        monkeypatch.setattr(SparkSession.Builder, "getOrCreate", _refuse_session)


def _refuse_session(_: object) -> None:
    pytest.fail("a test without the marker 'spark' starts a Spark session")


@pytest.fixture(scope="session")
def demo_world(tmp_path_factory: pytest.TempPathFactory) -> DemoWorld:
    """The recording's first day."""
    folder = tmp_path_factory.mktemp("demo")
    return DemoWorld.killed_once(folder, *UNTIL_FIRST_DAY, timeout_seconds=_DEMO_SECONDS)


@pytest.fixture(scope="session")
def whole_demo_world(tmp_path_factory: pytest.TempPathFactory) -> DemoWorld:
    """All nine days: only long tests wait for it."""
    return DemoWorld.killed_once(tmp_path_factory.mktemp("whole_demo"), timeout_seconds=_DEMO_SECONDS)


@pytest.fixture(scope="session")
def warehouse_location(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TableLocation:
    """Of the tests' Spark session: on disk, or on a server whose tests have a run of their own."""
    kind = lake_server()
    if kind is None:
        return tmp_path_factory.mktemp("warehouse")
    server: S3Server | GcsServer | AzureServer | HdfsServer = request.getfixturevalue(kind)
    return server.location("warehouse")


@pytest.fixture(scope="session", autouse=True)
def _warehouses_in_object_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """With TIDEMARK_TEST_LAKE=s3 every warehouse below the folder of the tests is reached by the S3 server.

    It keeps its objects in that very folder: tests that look into a warehouse's folder see what is in the store.
    """
    if lake_server() != "object_store":
        yield
        return
    server: S3Server = request.getfixturevalue("object_store")
    on_disk, tests = Settings.at, tmp_path_factory.getbasetemp()

    def at(data: Path, **others: str | TableLocation) -> Settings:
        folder = others.pop("warehouse", data / "warehouse")
        if isinstance(folder, (str, Path)) and Path(folder).is_relative_to(tests):
            folder = server.location(str(Path(folder).relative_to(tests)))
        return on_disk(data, **others, warehouse=folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settings, "at", staticmethod(at))
        yield


@pytest.fixture(scope="session")
def spark(warehouse_location: TableLocation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = spark_session(Settings.at(tmp_path_factory.mktemp("spark"), warehouse=warehouse_location), _PLAIN_ERRORS)
    yield session
    session.stop()


@pytest.fixture
def lake(warehouse_location: TableLocation) -> TableLocation:
    """A place for the tables of one test, in which nothing is."""
    return warehouse_location / uuid.uuid4().hex


def pytest_configure(config: pytest.Config) -> None:
    # Modules, syntax trees and thousands of tests stay until the end. The collector's scans of them took a third of the
    # processor time of collection and of tests that run no other process.
    gc.set_threshold(100_000, 50, 100)
    load_profile()
    choose_fresh(config.option.markexpr)


def pytest_collection_finish() -> None:
    freeze_live_objects()


def pytest_report_header() -> str | None:
    """The first seed, to run the same cases again."""
    return f"first seed: {SEED}={os.environ[SEED]}" if SEED in os.environ else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests of one server go to one worker, which starts it once; so do those of a file that share a fixture of it.

    Tests of a file that needs neither Spark nor a server stay together, too.
    """
    for fixture in _SERVERS.keys() & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.xdist_group(_SERVERS[fixture]))
        if fixture in _OF_LONG_TESTS:
            item.add_marker(pytest.mark.long)
    if not any(item.iter_markers("xdist_group")) and (_shares_fixture(item) or not _starts_spark(item)):
        item.add_marker(pytest.mark.xdist_group(item.location[0]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first: at the end one worker would be alone with it.

    Tests of the one replay come in the order that they are written in, as each leaves something to the next.
    """
    items.sort(key=_order)


def _order(item: pytest.Item) -> tuple[int, str, int]:
    file, line, _ = item.location
    if any(mark.args in ((FIRST_DAY,), (WHOLE,)) for mark in item.iter_markers("xdist_group")):
        return 0, file, line or 0
    if "tests/end_to_end/" in item.nodeid:
        return 1, "", 0
    return (2 if _starts_spark(item) else 3), "", 0


def _shares_fixture(item: pytest.Item) -> bool:
    """Whether it has something of its module, which each worker would set up for itself."""
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(definition.scope == "module" for of_name in definitions for definition in of_name)


def _starts_spark(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("spark", "components"))
