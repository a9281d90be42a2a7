"""What a replay leaves as it is: later changes, and letters that nothing can be made of still.

How letters have their effect is in tests/console/commands/test_dlq_replay.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.source.kafka.letters import NOW, LettersWorld, flat, world_at
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import Stream, at, order
from tidemark.capture.source.dead_letters import DeadLetters

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> LettersWorld:
    return world_at(spark, tmp_path)


@pytest.mark.long
def test_changes_after_a_dead_letter_stay(world: LettersWorld) -> None:
    world.values["a"] = [*world.values["a"], flat("DELETE", 3, "3.00"), flat("UPDATE", 1, "6.00", "5.00")]
    world.step()
    letters = DeadLetters(world.settings.warehouse)
    # As if the last two had been read: then they are no letters.
    letters.note_replayed([letter for letter in letters.all() if letter.offset > 5], NOW)
    assert {replayed.problem for replayed in world.replay("a")} == {None}
    assert world.orders() == {1: "6.00"}


@pytest.mark.long
def test_nothing_is_replayed_past_records_that_were_read_otherwise(world: LettersWorld) -> None:
    """Debezium's delete of order 1 is behind the letters; as Canal's it cannot be read, so 1 might come back."""
    back = Stream("a")
    # Further in the binlog than what was read before.
    for minute in range(9):
        back.heartbeat(at(f"2026-03-23 11:5{minute}"))
    deleted = back.change("orders_0", order(1, "1.00", 23), None, at("2026-03-23 12:00"))
    world.values["a"] = [*world.values["a"], values_of(back)[deleted]]
    world.step()
    assert world.orders() == {2: "2.00"}
    assert {
        "1 unreadable records, the first at offset 6" in (replayed.problem or "") for replayed in world.replay("a")
    } == {True}
    assert (world.orders(), world.waiting()) == ({2: "2.00"}, [3, 4, 5])
