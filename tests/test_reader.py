"""The reader that docs/add-a-table.md shows for notebooks."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.project import CHECKOUT
from tidemark import reader
from tidemark.compute.errors import InputMissingError, RowsMissingError
from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState, SliceStatus
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts, Transition

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CAPTURED = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"


def page_lines() -> list[str]:
    """The Python lines of the page that read a snapshot."""
    text = (CHECKOUT / "docs" / "add-a-table.md").read_text(encoding="utf-8")
    return re.findall(r"^(?:from tidemark.* import snapshot|snapshot\(.*)$", text, flags=re.MULTILINE)


@pytest.mark.long
@pytest.mark.spark
def test_the_lines_of_the_page_read_a_snapshot(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = small_warehouse(tmp_path, {"ods_orders": (CAPTURED, "")})
    spark.range(3).write.format("delta").save(str(warehouse.table_path("ods_orders")))
    tag = TaggedSnapshot("ods_orders", "day", "2026-03-29", 0, 3, datetime(2026, 3, 30, tzinfo=UTC))
    SnapshotRegistry.at(warehouse.settings.state_db).tag([tag])
    monkeypatch.setattr(reader, "_snapshots", lambda: Snapshots.of(Runtime(warehouse)))
    lines = page_lines()
    assert len(lines) == 2
    names: dict[str, object] = {}
    exec(lines[0], names)  # noqa: S102 - the page's own
    assert eval(f"{lines[1]}.count()", names) == 3  # noqa: S307
    assert reader.sql("SELECT count(*) AS c FROM snapshot('ods_orders', '2026-03-29')").first() == (3,)


@pytest.mark.spark
def test_a_computed_slice_is_read_like_a_captured_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = small_warehouse(tmp_path)
    runtime, day = Runtime(warehouse), date(2026, 3, 24)
    rows = [({"dt": key}, spark.range(count)) for key, count in ((day, 2), (date(2026, 3, 25), 5))]
    replace_partitions(rows, warehouse.table_path("sales"))
    monkeypatch.setattr(reader, "_snapshots", lambda: Snapshots.of(runtime))
    with pytest.raises(InputMissingError, match="missing sales@2026-03-24"):
        reader.snapshot("sales", "2026-03-24")
    now = datetime(2026, 3, 25, tzinfo=UTC)
    done = SliceStatus(RunState.COMPLETED, frozenset({COMPLETED}))
    store = StateStore.of(warehouse.settings)
    told = Transition(1, "1", Slice("sales", "2026-03-24"), Event.COMPLETED, done, "test", "", now, now, Facts())
    store.write.append([told], after=0, cursors={})
    store.close()
    assert reader.snapshot("sales", "2026-03-24").count() == 2
    assert reader.sql("SELECT count(*) AS c FROM snapshot('sales', '2026-03-24')").first() == (2,)
    shutil.move(str(warehouse.table_path("sales")), tmp_path / "away")
    with pytest.raises(RowsMissingError, match="no table"):
        reader.snapshot("sales", "2026-03-24")
