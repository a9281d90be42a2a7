"""The reader that the README tells people to import in a notebook."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.project import CHECKOUT
from tidemark import reader
from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CAPTURED = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"


def readme_lines() -> list[str]:
    """The Python lines of the README that read a snapshot."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^(?:from tidemark.* import snapshot|snapshot\(.*)$", text, flags=re.MULTILINE)


@pytest.mark.spark
def test_the_lines_of_the_readme_read_a_snapshot(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = small_warehouse(tmp_path, {"ods_orders": (CAPTURED, "")})
    spark.range(3).write.format("delta").save(str(warehouse.table_path("ods_orders")))
    tag = TaggedSnapshot("ods_orders", "day", "2026-03-29", 0, 3, datetime(2026, 3, 30, tzinfo=UTC))
    SnapshotRegistry.at(warehouse.settings.state_db).tag([tag])
    monkeypatch.setattr(reader, "_snapshots", lambda: Snapshots.of(Runtime(warehouse)))
    lines = readme_lines()
    assert len(lines) == 2
    names: dict[str, object] = {}
    exec(lines[0], names)  # noqa: S102 - the README's own
    assert eval(f"{lines[1]}.count()", names) == 3  # noqa: S307
    assert reader.sql("SELECT count(*) AS c FROM snapshot('ods_orders', '2026-03-29')").first() == (3,)
