"""Somebody else's write on a captured table: seen before the next merge, which waits until the rows are back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from tests.capture.operations.test_statements import NOON, StatementWorld
from tests.capture.streams import order
from tidemark.capture.errors import ForeignWriteError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_nothing_is_merged_on_top_of_a_restored_version(spark: SparkSession, tmp_path: Path) -> None:
    world = StatementWorld(spark, tmp_path)
    world.step()
    path = world.settings.warehouse / "ods_orders"
    own = DeltaTable(str(path)).version()
    DeltaTable(str(path)).delete("order_id = 1")
    world.stream.change("orders_0", None, order(3, "3.00", 23), NOON)
    with pytest.raises(ForeignWriteError, match=rf"RESTORE the Delta table to version {own}"):
        world.step()
    DeltaTable(str(path)).restore(own - 1)
    with pytest.raises(ForeignWriteError, match="made by RESTORE"):
        world.step()
    DeltaTable(str(path)).restore(own)
    world.step()
    assert world.rows() == {("0", 1), ("0", 2), ("0", 3), ("1", 1), ("1", 2)}
