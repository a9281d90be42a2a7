"""Which ranges a cycle has, from wherever it was left, and which shards it passes over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from tidemark.capture.audit.canonical_text import PhysicalColumn
from tidemark.capture.audit.cursor import AuditCursor
from tidemark.capture.audit.errors import AuditRefusedError
from tidemark.capture.audit.shard_walk import ShardWalk
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.schema_changes import RecordedSchemaChange, evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source_table import SourceTable

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.capture.audit.compared_shard import ComparedShard
    from tidemark.capture.audit.source_reader import SourceReader

ORDERS = SourceTable("ods_orders", "school.orders_*", ("a",), ("id",), None, ())
NAMED = SourceTable("ods_named", "school.named", ("a",), ("name",), None, ())
PRINTED = {"school.orders": {"id": "bigint(20)", "v": "int(11)"}, "school.named": {"name": "varchar(20)"}}


class FakeReader:
    """Shards of keys 1 to `rows`, of which some may not be read."""

    def __init__(self, rows: int, refused: str = "") -> None:
        self._rows, self._refused = rows, refused

    def tables(self) -> dict[str, int]:
        return dict.fromkeys(("school.orders_1", "school.orders_0", "school.named", "school.other"), self._rows)

    def columns(self, physical: str) -> tuple[PhysicalColumn, ...]:
        printed = PRINTED[physical.rpartition("_")[0] or physical]
        return tuple(PhysicalColumn(name, kind, is_nullable=True) for name, kind in printed.items())

    def next_bound(self, physical: str, shard: ComparedShard, low: str | None, rows: int) -> str | None:  # noqa: ARG002 - as the reader
        if physical == self._refused:
            raise AuditRefusedError.of("a", "here", "SELECT command denied")
        high = int(low or 0) + rows
        return str(high) if high <= self._rows else None


def captured(warehouse: Path, source: SourceTable, printed: dict[str, str], **state: object) -> None:
    said = {"physical": source.shards.example, "types": json.dumps(printed)}
    schemas = parse_declarations(json.dumps(said)).schemas
    columns = evolve(TableColumns(), [RecordedSchemaChange("a", 0, schema) for schema in schemas], {})
    text = CommitState(batch=1, columns=columns, **state).to_json()  # type: ignore[arg-type]
    told = CommitProperties(custom_metadata={"userMetadata": text})
    write_deltalake(warehouse / source.name, pa.table({"id": [1]}), commit_properties=told)


def walked(
    warehouse: Path, reader: FakeReader, start: AuditCursor, sources: tuple[SourceTable, ...] = (ORDERS,)
) -> tuple[list[tuple[str, str]], list[AuditCursor], dict[str, str]]:
    """The ranges, the cursor behind each, and what is passed over."""
    over: dict[str, str] = {}
    walk = ShardWalk(sources, {"a": cast("SourceReader", reader)}, warehouse, rows=10)
    steps = list(walk.steps(start, over.__setitem__))
    return [(step.patch.shard[-1], str(step.patch.range)) for step in steps], [step.behind for step in steps], over


def test_a_cycle_goes_through_all_shards_and_on_from_every_cursor(tmp_path: Path) -> None:
    captured(tmp_path, ORDERS, PRINTED["school.orders"])
    ranges, cursors, over = walked(tmp_path, FakeReader(25), AuditCursor())
    assert ranges == [(shard, range_) for shard in "01" for range_ in ("..10", "10..20", "20..")]
    assert over == {}
    for at, cursor in enumerate(cursors):
        assert walked(tmp_path, FakeReader(25), cursor)[0] == ranges[at + 1 :]
    assert walked(tmp_path, FakeReader(25), AuditCursor("ods_gone", "a.school.gone", "7"))[0] == ranges


def test_a_key_of_text_is_cut_into_slices(tmp_path: Path) -> None:
    captured(tmp_path, NAMED, PRINTED["school.named"])
    ranges, cursors, _ = walked(tmp_path, FakeReader(25), AuditCursor(), (NAMED,))
    assert [range_ for _, range_ in ranges] == ["slice 1 of 3", "slice 2 of 3", "slice 3 of 3"]
    assert [len(walked(tmp_path, FakeReader(25), cursor, (NAMED,))[0]) for cursor in cursors] == [2, 1, 0]


@pytest.mark.parametrize(
    ("state", "refused", "why"),
    [
        ({"initial_load_pending": ("a.school.orders_0",)}, "", "being loaded"),
        ({}, "school.orders_0", "SELECT command denied"),
    ],
)
def test_a_shard_that_cannot_be_compared_is_passed_over(
    tmp_path: Path, state: dict[str, tuple[str, ...]], refused: str, why: str
) -> None:
    captured(tmp_path, ORDERS, PRINTED["school.orders"], **state)
    ranges, _, over = walked(tmp_path, FakeReader(5, refused), AuditCursor())
    assert ranges == [("1", "..")]
    assert why in over["a.school.orders_0"]


def test_a_table_that_is_not_in_the_lake_or_has_another_key_is_passed_over(tmp_path: Path) -> None:
    assert "its table is not in the lake" in walked(tmp_path, FakeReader(5), AuditCursor())[2]["a.school.orders_0"]
    captured(tmp_path, ORDERS, {"id": "double", "v": "int(11)"})
    assert "its key id" in walked(tmp_path, FakeReader(5), AuditCursor())[2]["a.school.orders_0"]
