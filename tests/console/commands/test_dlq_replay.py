"""`tidemark dlq replay`: letters that can be read now have the effect that they would have had, others stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.capture.source.kafka.letters import world_at
from tests.capture.source.kafka.sent import Known, SentIntake
from tidemark.capture.source.kafka.broker_offsets import Bounds
from tidemark.console.main import main
from tidemark.delta.delta_rs_table import current_version

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.capture.source.kafka.letters import LettersWorld
    from tests.capture.source.kafka.sent import SentValues
    from tidemark.system.settings import Settings

pytestmark = pytest.mark.spark


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LettersWorld:
    """What the command is told by its environment, once somebody has said that `a` is Canal's."""
    world = world_at(spark, tmp_path)
    monkeypatch.setenv("TIDEMARK_DATA", str(world.settings.data))
    monkeypatch.setenv("TIDEMARK_KAFKA", "nowhere:9092")
    monkeypatch.setenv("TIDEMARK_CANAL", "a")
    return world


def replay(*options: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["dlq", "replay", *options])
    return done.exit_code, done.stdout


@pytest.mark.long
def test_letters_that_can_be_read_now_have_their_effect(world: LettersWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def intake(settings: Settings) -> SentIntake:
        assert settings.kafka == "nowhere:9092"
        return SentIntake(world.values, settings.by_canal)

    monkeypatch.setattr("tidemark.capture.source.kafka.intake.KafkaIntake.of", intake)
    assert replay() == (0, "0 of 0 records of the dead-letter queue replayed\n")
    world.values["a"] = [*world.values["a"], "{"]
    world.step()
    assert (world.orders(), world.waiting()) == ({1: "1.00", 2: "2.00"}, [3, 4, 5, 6])
    code, shown = replay("--json")
    problems = {3: None, 4: None, 5: None, 6: "not a record of Debezium"}
    expected = [{"topic": "cdc.a", "offset": place, "row": 0, "problem": why} for place, why in problems.items()]
    assert (code, json.loads(shown)) == (1, {"replayed": expected})
    assert (world.orders(), world.waiting()) == ({1: "5.00", 3: "3.00"}, [6])
    version = current_version(world.settings.warehouse / "ods_orders")
    world.step()
    assert current_version(world.settings.warehouse / "ods_orders") == version


class Emptied(SentIntake):
    """Retention dropped the records before offset 4."""

    def __init__(self, values: SentValues, by_canal: Collection[str]) -> None:
        super().__init__(values, by_canal)
        self._broker = Known({name: Bounds(4, len(sent)) for name, sent in values.items()})

    def scan(self, *_: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing is to be read")


@pytest.mark.long
def test_letters_that_kafka_dropped_stay(world: LettersWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.step()
    monkeypatch.setattr(
        "tidemark.capture.source.kafka.intake.KafkaIntake.of", lambda settings: Emptied(world.values, settings.by_canal)
    )
    code, shown = replay()
    *letters, total = shown.splitlines()
    assert (code, total, world.waiting()) == (1, "0 of 3 records of the dead-letter queue replayed", [3, 4, 5])
    assert [line.startswith(f"cdc.a offset {offset}: ") for offset, line in zip((3, 4, 5), letters, strict=True)] == [
        True
    ] * 3
    assert all("1 records expired in Kafka" in line for line in letters)
