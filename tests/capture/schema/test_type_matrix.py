"""What docs/capture.md says of each type and change is what happens, and no value gets lost by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.schema.test_schema_changes import change
from tests.capture.schema.type_matrix import CELLS, EXAMPLES, MISFITS, TYPES, Cell, render
from tests.capture.source.kafka.sent import SentValues, messages
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import Stream, at
from tidemark.capture.apply.columns_by_batch import columns_by_batch
from tidemark.capture.apply.table_changes_by_batch import table_changes
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.planning.commit_planner import PlannedBatch, Span
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.schema.schema_changes import evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source.kafka.intake import OffsetRange, scan_messages
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[3] / "docs" / "capture.md"
MATRIX = SourceTable("ods_matrix", "school.matrix_*", ("a",), ("id",), None, ())
APPLIED = {f"c{number}": cell for number, cell in enumerate(CELLS) if cell.outcome == "applied"}
Row = dict[str, Any]


def test_the_matrix_is_the_documented_one() -> None:
    assert render() in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.source}-{cell.change}-{cell.to}")
def test_a_change_is_applied_or_stops(cell: Cell) -> None:
    """Of a shard that has rows; what another shard says to it is the same."""
    before = evolve(TableColumns(), [change(0, 0, c=cell.source), change(1, 1, c=cell.source)], {})
    for shard in (0, 1):
        begun = {"a.school.orders_0": 2, "a.school.orders_1": 3}
        if cell.outcome == "stopped":
            with pytest.raises(ColumnTypeError, match=rf"school\.orders_{shard}"):
                evolve(before, [change(9, shard, c=cell.to)], begun)
        else:
            assert evolve(before, [change(9, shard, c=cell.to)], begun).by_name.keys() == {"c"}


def old_row(key: int) -> Row:
    kept = {name: EXAMPLES[cell.source][0] for name, cell in APPLIED.items()}
    return {"id": key, **kept, **{f"gone_{at}": EXAMPLES[kind][0] for at, kind in enumerate(TYPES)}}


def new_row(key: int) -> Row:
    changed = {name: EXAMPLES[cell.to][0] for name, cell in APPLIED.items()}
    return {"id": key, **changed, **{f"new_{at}": EXAMPLES[kind][0] for at, kind in enumerate(TYPES)}}


OLD_TYPES = {
    "id": "INT",
    **{name: cell.source for name, cell in APPLIED.items()},
    **{f"gone_{at}": kind for at, kind in enumerate(TYPES)},
}
NEW_TYPES = {
    "id": "BIGINT",
    **{name: cell.to for name, cell in APPLIED.items()},
    **{f"new_{at}": kind for at, kind in enumerate(TYPES)},
}
IN_LAKE = [EXAMPLES[kind][1] for kind in TYPES]


@pytest.mark.long
@pytest.mark.spark
def test_no_value_is_another_one_for_a_change(spark: SparkSession, tmp_path: Path) -> None:
    """All that is applied at once: the older rows, those of a shard that is not altered yet, and the new ones."""
    settings = Settings.at(tmp_path / "data")
    ingestion = Ingestion(spark, settings, [MATRIX], SnapshotRegistry.at(settings.state_db))
    stream = Stream("a")
    for shard in (0, 1):
        stream.declare(f"matrix_{shard}", OLD_TYPES, at("2026-03-23 09:00"))
    stream.change("matrix_0", None, old_row(1), at("2026-03-23 10:00"))
    stream.land(settings.landing, 0)
    ingestion.step()
    landed = len(stream.lines)
    stream.declare("matrix_0", NEW_TYPES, at("2026-03-23 11:00"))
    stream.change("matrix_0", None, new_row(2), at("2026-03-23 11:00"))
    stream.change("matrix_1", None, old_row(3), at("2026-03-23 11:00"))
    stream.land(settings.landing, landed)
    ingestion.step()

    by_id = {row["id"]: row for row in read_rows(settings.warehouse / "ods_matrix").to_pylist()}
    kept = {name: cell.kept for name, cell in APPLIED.items()}
    for key in (1, 3):
        assert {name: by_id[key][name] for name in kept} == kept
        assert [by_id[key][f"gone_{at}"] for at in range(len(TYPES))] == IN_LAKE
        assert [by_id[key][f"new_{at}"] for at in range(len(TYPES))] == [None] * len(TYPES)
    assert {name: by_id[2][name] for name in kept} == {name: EXAMPLES[change.to][1] for name, change in APPLIED.items()}
    assert [by_id[2][f"gone_{at}"] for at in range(len(TYPES))] == [None] * len(TYPES)
    assert [by_id[2][f"new_{at}"] for at in range(len(TYPES))] == IN_LAKE


@pytest.mark.spark
def test_a_value_that_fits_no_type_is_bad_and_no_other(spark: SparkSession) -> None:
    stream = Stream("a")
    kinds = list(MISFITS)
    stream.declare(
        "matrix_0", {"id": "INT", **{f"c{at}": kind for at, kind in enumerate(kinds)}}, at("2026-03-23 09:00")
    )
    good = {f"c{at}": EXAMPLES[kind][0] for at, kind in enumerate(kinds)}
    for number, (kind, value) in enumerate(MISFITS.items()):
        row = {**good, "id": number, f"c{kinds.index(kind)}": value}
        stream.change("matrix_0", None, row, at("2026-03-23 10:00"))
    stream.change("matrix_0", None, {**good, "id": 99}, at("2026-03-23 10:00"))
    sent: SentValues = {"a": values_of(stream)}
    ranges = [OffsetRange("a", 0, len(sent["a"]))]
    scan = scan_messages(messages(spark, sent, ranges), ranges, [MATRIX], ())
    batch = PlannedBatch({"a": Span(0, len(sent["a"]))}, {}, (), None)
    try:
        (columns,) = columns_by_batch(MATRIX, scan, BinlogOrder(), [batch], CommitState())
        rows = table_changes(spark, scan, BinlogOrder(), MATRIX, columns, [batch]).orderBy("_offset").collect()
    finally:
        scan.close()
    fits = [kind for kind, row in zip(kinds, rows, strict=False) if not row["_bad"]]
    assert fits == []
    assert not rows[-1]["_bad"]
