"""Somebody else's write on a captured table: seen before the next merge, which waits until the rows are back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_statements import NOON, StatementWorld
from tests.capture.streams import at, order
from tests.lake_folder import table_of_others
from tidemark.capture.apply import table_ingest
from tidemark.capture.errors import ForeignWriteError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.long
def test_nothing_is_merged_on_top_of_a_restored_version(spark: SparkSession, tmp_path: Path) -> None:
    world = StatementWorld(spark, tmp_path)
    world.step()
    path = world.settings.warehouse / "ods_orders"
    own = table_of_others(path).version()
    table_of_others(path).delete("order_id = 1")
    world.stream.change("orders_0", None, order(3, "3.00", 23), NOON)
    with pytest.raises(ForeignWriteError, match=rf"RESTORE the Delta table to version {own}"):
        world.step()
    table_of_others(path).restore(own - 1)
    with pytest.raises(ForeignWriteError, match="made by RESTORE"):
        world.step()
    table_of_others(path).restore(own)
    world.step()
    assert world.rows() == {("0", 1), ("0", 2), ("0", 3), ("1", 1), ("1", 2)}


@pytest.mark.parametrize("is_restored", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_foreign_write_during_a_merge_is_noticed_and_nothing_is_tagged(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_restored: bool
) -> None:
    """The merge is on top of it: no version since then is the source's table."""
    world = StatementWorld(spark, tmp_path)
    world.step()
    path = world.settings.warehouse / "ods_orders"
    before = len(world.registry.of("ods_orders"))

    def write(name: str) -> None:
        if name == "ingest.before_commit" and table_of_others(path).version() == own:
            table = table_of_others(path)
            _ = table.restore(0) if is_restored else table.delete("order_id = 1")

    own = table_of_others(path).version()
    world.stream.change("orders_0", None, order(3, "3.00", 23), NOON)
    world.stream.heartbeat(at("2026-03-23 23:30"))
    monkeypatch.setattr(table_ingest, "crash_point", write)
    for _ in range(2):
        with pytest.raises(ForeignWriteError, match=r"while changes were merged.*got no tag"):
            world.step()
    monkeypatch.undo()
    with pytest.raises(ForeignWriteError):
        world.step()
    assert len(world.registry.of("ods_orders")) == before


@pytest.mark.long
def test_an_optimize_while_a_step_merges_changes_no_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = StatementWorld(spark, tmp_path)
    world.step()
    path = world.settings.warehouse / "ods_orders"
    compacted: list[int] = []

    def compact(name: str) -> None:
        if name == "ingest.before_commit" and not compacted:
            table_of_others(path).optimize.compact()
            compacted.append(table_of_others(path).version())

    world.stream.change("orders_0", None, order(3, "3.00", 23), NOON)
    monkeypatch.setattr(table_ingest, "crash_point", compact)
    world.step()
    assert compacted
    assert ("0", 3) in world.rows()
