"""Reports nested to every depth, by every door: both hosts of the center start on what was taken in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import dagster as dg
import pytest

from tests.center.detectors.test_topic_detector import ListSource
from tests.compute.small_warehouse import DECLARED, small_warehouse
from tidemark.center.center_tick import CenterTick
from tidemark.center.detectors.topic_detector import TopicDetector
from tidemark.center.sensor_host import SensorHost
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

_FIELDS: Final = ("parameters", "watermarks", "run_id", "why", "subject", "state", "row_count", "unknown")
_DEEPEST: Final = 2_000


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return small_warehouse(tmp_path, {"sales": ("period: day\nkind: Virtual\n", DECLARED["sales"][1])})


def nested(field: str, depth: int) -> bytes:
    """A report that another system began a run, as it stopped both hosts once."""
    said = {
        "subject": "totals@2026-03-23",
        "event": "started",
        "event_id": f"{field} {depth}",
        "event_time": "2026-03-24T00:00:00Z",
        "run_id": "airflow-4711",
    }
    said.pop(field, None)
    return f'{json.dumps(said)[:-1]}, "{field}": {{"a": {"[" * (depth - 1)}1{"]" * (depth - 1)}}}}}'.encode()


def bodies(depths: Iterable[int]) -> Iterator[bytes]:
    for depth in depths:
        yield from (nested(field, depth) for field in _FIELDS)


def assert_both_hosts_start(warehouse: Warehouse, folder: Path, depths: Iterable[int]) -> None:
    sent = list(bodies(depths))
    before = CenterTick(warehouse, "center")
    with TopicDetector("reports", ListSource(*sent), before.center, before.store.read) as detector:
        polled = detector.poll(len(sent))
    assert polled.messages == len(sent)
    assert 0 < len(polled.refused) < len(sent)
    taken = [said for said in before.store.read.after(0) if said.event is Event.STARTED]
    assert taken
    with dg.instance_for_test(temp_dir=str(folder)) as instance:
        service = CenterTick(warehouse, "center")
        service.tick(instance)
        assert service.center.unreadable() == {}
        result = readiness_sensor(warehouse)(dg.build_sensor_context(instance=instance))
        assert isinstance(result, (dg.SensorResult, dg.SkipReason))
        assert SensorHost(warehouse).center.unreadable() == {}


def test_both_hosts_start_after_the_depths_that_once_stopped_them(warehouse: Warehouse, tmp_path: Path) -> None:
    assert_both_hosts_start(warehouse, tmp_path, (1, 2, 15, 16, 17, 900, *range(970, 990), 1_000, _DEEPEST))


@pytest.mark.long
def test_both_hosts_start_after_every_depth(warehouse: Warehouse, tmp_path: Path) -> None:
    assert_both_hosts_start(warehouse, tmp_path, range(1, _DEEPEST + 1))
