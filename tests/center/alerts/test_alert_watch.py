"""A tick only says that the lease is held: neither a dead receiver nor a store that is gone reaches it."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.alerts.receiver import receiving
from tests.center.alerts.test_rule_alerts import RuleWorld
from tidemark.center.alerts import AlertWatch
from tidemark.center.baseline import CenterForecast
from tidemark.center.pools import Pools
from tidemark.state_store.errors import StateStoreDownError
from tidemark.system.settings import Settings
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def _watch(world: RuleWorld, url: str) -> AlertWatch:
    forecast = CenterForecast(world.center, Pools({"default": 1}), utc_now)
    settings = Settings.at(world.folder, forecast_seconds="0.01")
    return AlertWatch(world.center, forecast, settings, {"TIDEMARK_CHANNEL_HOOK": url})


def test_a_receiver_that_does_not_answer_is_told_beside_the_ticks(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = RuleWorld(tmp_path)
    world.tell("ext@2024-06-01", "observed", "1")
    world.judge("2024-06-01", "quality_failed", "0 rows")
    with receiving() as receiver:
        receiver.open.clear()
        watch = _watch(world, receiver.url)
        watch.poll(instance)
        receiver.wait_for(lambda got: len(got) == 1)
        watch.poll(instance)  # returns while the receiver holds its answer back
        world.judge("2024-06-01", "quality_passed")
        receiver.open.set()
        while len(receiver.got) < 2:
            watch.poll(instance)
        got = receiver.wait_for(lambda got: len(got) == 2)
        watch.close()
    assert [(message["event"], message["slices"]) for message in got] == [
        ("raised", ["ext@2024-06-01"]),
        ("recovered", ["ext@2024-06-01"]),
    ]


def test_a_store_that_is_gone_is_no_trouble_of_the_tick(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world, tried = RuleWorld(tmp_path), Event()

    def look(_watch: AlertWatch) -> None:
        tried.set()
        raise StateStoreDownError("the database does not answer")

    monkeypatch.setattr(AlertWatch, "look", look)
    watch = _watch(world, "")
    watch.poll(instance)
    assert tried.wait(60)
    watch.poll(instance)
    watch.close()
    assert "alerts wait: the database does not answer" in caplog.text
