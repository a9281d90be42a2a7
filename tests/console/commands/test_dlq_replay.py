"""`tidemark dlq replay`: once the letters can be read, they have the effect that they would have had."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from console.main import main
from resources.delta.table import current_version
from tests.resources.capture.kafka.letters import world_at
from tests.resources.capture.kafka.sent import Sent

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pyspark.sql import SparkSession

    from resources.capture.kafka.bounds import Broker
    from tests.resources.capture.kafka.letters import World

pytestmark = pytest.mark.spark


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """What the command is told by its environment; Kafka's part without a broker."""
    found = world_at(spark, tmp_path)

    def intake(broker: Broker, by_canal: Collection[str]) -> Sent:
        assert broker.bootstrap_servers == "nowhere:9092"
        return Sent(found.values, by_canal)

    monkeypatch.setattr("resources.capture.kafka.intake.KafkaIntake", intake)
    monkeypatch.setenv("TIDEMARK_DATA", str(found.settings.data))
    monkeypatch.setenv("TIDEMARK_KAFKA", "nowhere:9092")
    return found


def replay(*options: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["dlq", "replay", *options])
    return done.exit_code, done.stdout


def test_letters_have_their_effect_once_they_can_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.step()
    assert world.orders() == {1: "1.00", 2: "2.00"}
    code, shown = replay()
    assert (code, shown.splitlines()[0]) == (1, "cdc.a offset 3: no source.ts_ms")
    assert shown.splitlines()[-1] == "0 of 3 dead letters replayed"
    assert world.waiting() == [3, 4, 5]
    monkeypatch.setenv("TIDEMARK_CANAL", "a")
    code, shown = replay("--json")
    expected = [{"topic": "cdc.a", "offset": offset, "row": 0, "problem": None} for offset in (3, 4, 5)]
    assert (code, json.loads(shown)) == (0, {"replayed": expected})
    assert world.orders() == {1: "5.00", 3: "3.00"}
    version = current_version(world.settings.warehouse / "ods_orders")
    assert (world.waiting(), replay()) == ([], (0, "0 of 0 dead letters replayed\n"))
    world.step()
    assert current_version(world.settings.warehouse / "ods_orders") == version
