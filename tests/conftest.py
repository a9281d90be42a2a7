"""What all tests share: one Spark session, and one replay of the whole recording for the demo's tests and the UI's."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from resources.settings import Settings
from resources.spark.session import spark_session
from tests.world import DemoWorld, World, run_demo

# A guard against hanging, not a measure: the demo's own time is in benchmarks/RESULTS.md.
_DEMO_SECONDS = 1800


@pytest.fixture(scope="session")
def demo_world(tmp_path_factory: pytest.TempPathFactory) -> DemoWorld:
    world = World.at(tmp_path_factory.mktemp("demo"))
    return DemoWorld(world, run_demo(world, timeout_seconds=_DEMO_SECONDS))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = spark_session(Settings.at(tmp_path_factory.mktemp("spark")))
    yield session
    session.stop()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first: at the end one worker would be alone with it."""
    items.sort(key=lambda item: "tests/end_to_end/" not in item.nodeid)
