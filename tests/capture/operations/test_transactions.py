"""A transaction that passes the end of a slice is in that slice's snapshot as a whole, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_statements import SOURCE, StatementWorld
from tests.capture.streams import at, order

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Midnight of the project's zone, which is Paris.
BEFORE, BEHIND, NEXT = at("2026-03-23 22:59:59"), at("2026-03-23 23:00:01"), at("2026-03-24 10:00")
OLD = {("0", 1, "1.00"), ("0", 2, "2.00"), ("1", 1, "1.00"), ("1", 2, "2.00")}


def transfer(world: StatementWorld) -> None:
    """Both shards' first rows change in one transaction, the first before midnight."""
    with world.stream.transaction():
        world.stream.change("orders_0", order(1, "1.00", 23), order(1, "0.00", 23), BEFORE)
        world.stream.change("orders_1", order(1, "1.00", 23), order(1, "9.00", 23), BEHIND)


def tagged_rows(world: StatementWorld) -> set[tuple[object, ...]]:
    (snapshot,) = world.registry.of("ods_orders")
    return {(*row[:2], str(row[2])) for row in world.rows("amount", version=snapshot.version)}


def test_changes_committed_after_midnight_belong_to_the_next_day(spark: SparkSession, tmp_path: Path) -> None:
    world = StatementWorld(spark, tmp_path)
    transfer(world)
    world.stream.heartbeat(NEXT)
    report = world.step()
    assert tagged_rows(world) == OLD
    assert (report.late, report.warnings) == ({}, ())
    assert {(*row[:2], str(row[2])) for row in world.rows("amount")} == {
        ("0", 1, "0.00"),
        ("0", 2, "2.00"),
        ("1", 1, "9.00"),
        ("1", 2, "2.00"),
    }


@pytest.mark.long
def test_one_that_was_merged_in_part_before_its_end_was_read_is_of_the_day(spark: SparkSession, tmp_path: Path) -> None:
    world = StatementWorld(spark, tmp_path)
    assert SOURCE.instances == ("a",)
    with world.stream.transaction():
        world.stream.change("orders_0", order(1, "1.00", 23), order(1, "0.00", 23), BEFORE)
        world.step()
        world.stream.change("orders_1", order(1, "1.00", 23), order(1, "9.00", 23), BEHIND)
        assert world.step().closed == ()
    world.stream.heartbeat(NEXT)
    world.step()
    assert tagged_rows(world) == {("0", 1, "0.00"), ("0", 2, "2.00"), ("1", 1, "9.00"), ("1", 2, "2.00")}


def test_one_that_waits_for_its_slices_end_is_read_with_it(spark: SparkSession, tmp_path: Path) -> None:
    """In the minute in which it begins there are records before it, and no heartbeat says yet that the day is over."""
    world = StatementWorld(spark, tmp_path)
    world.stream.heartbeat(at("2026-03-23 10:01"), beat_at=at("2026-03-23 10:01"))
    world.stream.change("orders_0", None, order(3, "3.00", 23), at("2026-03-23 22:59:58"))
    transfer(world)
    assert world.step().closed == ()
    world.stream.heartbeat(NEXT, beat_at=NEXT)
    world.step()
    assert tagged_rows(world) == {*OLD, ("0", 3, "3.00")}
    after = {(*row[:2], str(row[2])) for row in world.rows("amount")}
    assert after == {("0", 1, "0.00"), ("0", 2, "2.00"), ("0", 3, "3.00"), ("1", 1, "9.00"), ("1", 2, "2.00")}
