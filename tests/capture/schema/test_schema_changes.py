"""What schema changes make of a table's columns, shard by shard."""

import json

import pytest

from tests.capture.streams import Stream, at
from tidemark.capture.apply.columns_by_batch import of_one_type
from tidemark.capture.binlog.continuity import Again, Judged
from tidemark.capture.binlog.position import Position
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import ColumnTypeError, DeclarationError
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.schema_changes import RecordedSchemaChange, evolve
from tidemark.capture.schema.table_columns import TableColumns

ZERO, ONE = "a.school.orders_0", "a.school.orders_1"
NONE: dict[str, int] = {}


def change(offset: int, shard: int = 0, **columns: str) -> RecordedSchemaChange:
    stream = Stream("a")
    stream.declare(f"orders_{shard}", columns, at("2026-03-23 00:00"))
    (schema,) = parse_declarations(json.dumps(json.loads(stream.lines[0])["value"]["tableChanges"])).schemas
    return RecordedSchemaChange("a", offset, schema)


def types(columns: TableColumns) -> dict[str, str]:
    return {column.name: column.delta for column in columns.lake}


def test_columns_are_added_at_the_end_and_never_taken_away() -> None:
    columns = evolve(TableColumns(), [change(0, id="BIGINT", amount="DECIMAL"), change(1, id="BIGINT", c="INT")], NONE)
    assert types(columns) == {"id": "BIGINT", "amount": "DECIMAL(10,2)", "c": "INT"}
    assert columns.shapes == ()


def test_a_column_without_a_type_in_the_lake_is_quarantined_alone_and_for_good() -> None:
    columns = evolve(TableColumns(), [change(0, id="BIGINT", place="GEOMETRY", flags="BIT(8)", c="INT")], NONE)
    assert types(columns) == {"id": "BIGINT", "c": "INT"}
    assert columns.quarantined == {"place": "place GEOMETRY", "flags": "flags BIT(8)"}
    assert TableColumns.from_json(columns.to_json()) == columns
    # Its older rows would have NULL where the source has values.
    assert types(evolve(columns, [change(9, id="BIGINT", place="TEXT", c="INT")], {ZERO: 2})) == types(columns)


def test_a_column_of_the_lake_that_gets_an_unknown_type_stops_the_table() -> None:
    before = evolve(TableColumns(), [change(0, id="BIGINT", c="INT")], NONE)
    with pytest.raises(ColumnTypeError, match="found c GEOMETRY"):
        evolve(before, [change(9, id="BIGINT", c="GEOMETRY")], {ZERO: 2})


def test_an_excluded_column_is_never_the_lakes_also_one_that_would_be_refused() -> None:
    both = change(0, id="BIGINT", NOTE="TEXT", note="INT")
    with pytest.raises(DeclarationError, match="one column of the lake"):
        evolve(TableColumns(), [both], NONE)
    assert types(evolve(TableColumns(), [change(0, id="BIGINT", C="TEXT")], NONE, {"c"})) == {"id": "BIGINT"}


def test_an_altered_shard_widens_the_column_and_the_other_shard_continues() -> None:
    before = evolve(TableColumns(), [change(0, 0, id="INT"), change(1, 1, id="INT")], NONE)
    after = evolve(before, [change(9, 0, id="BIGINT")], {ZERO: 2, ONE: 3})
    assert types(after) == {"id": "BIGINT"}
    assert after.shape_at(ZERO, "id", 8).delta == "INT"
    assert after.shape_at(ZERO, "id", 9).delta == "BIGINT"
    assert after.shape_at(ONE, "id", 99).delta == "INT"
    assert after.row_at(ONE, 99)[0].decode_sql("x") == "CAST(x AS BIGINT)"
    assert after.wider_columns_since(before) == {"id": ("BIGINT", "CAST({} AS BIGINT)")}
    last = evolve(after, [change(20, 1, id="BIGINT")], {ZERO: 2, ONE: 3})
    assert last.wider_columns_since(after) == {}
    assert last.shape_at(ONE, "id", 20).delta == "BIGINT"


def test_steps_of_many_shards_end_in_the_widest() -> None:
    columns = evolve(TableColumns(), [change(0, 0, c="TINYINT"), change(1, 1, c="TINYINT")], NONE)
    steps = [(10, 0, "SMALLINT"), (11, 1, "BIGINT"), (12, 0, "INT")]
    for offset, shard, kind in steps:
        columns = evolve(columns, [change(offset, shard, c=kind)], {ZERO: 2, ONE: 3})
    assert types(columns) == {"c": "BIGINT"}
    assert [columns.shape_at(ZERO, "c", at).delta for at in (9, 10, 12)] == ["TINYINT", "SMALLINT", "INT"]


def test_a_shard_that_gets_narrower_stops_with_both_types_named() -> None:
    wide = evolve(TableColumns(), [change(0, c="BIGINT")], NONE)
    with pytest.raises(ColumnTypeError, match=r"expected c BIGINT \(source: BIGINT\), found INT"):
        evolve(wide, [change(9, c="INT")], {ZERO: 5})


def test_a_type_that_neither_holds_nor_is_held_stops() -> None:
    known = evolve(TableColumns(), [change(0, amount="DECIMAL")], NONE)
    with pytest.raises(ColumnTypeError, match=r"expected amount DECIMAL\(10,2\).*, found STRING"):
        evolve(known, [change(1, amount="VARCHAR")], NONE)


def test_a_new_shard_may_be_narrower_than_the_lake() -> None:
    wide = evolve(TableColumns(), [change(0, 0, c="BIGINT")], NONE)
    columns = evolve(wide, [change(9, 1, c="INT")], {ZERO: 5, ONE: 12})
    assert types(columns) == {"c": "BIGINT"}
    assert columns.shape_at(ONE, "c", 12).delta == "INT"


def test_a_repeated_declaration_changes_nothing() -> None:
    """A process that died after the widening reads the same declarations again."""
    changes = [change(0, 0, c="INT"), change(1, 1, c="INT"), change(5, 0, c="BIGINT"), change(7, 0, c="BIGINT")]
    columns = evolve(TableColumns(), changes, {ZERO: 2, ONE: 2})
    assert evolve(columns, changes, {ZERO: 0, ONE: 0}) == columns
    assert len(columns.shapes) == 1


def test_columns_travel_in_a_commit() -> None:
    changes = [change(0, 0, c="INT", d="DATE"), change(5, 0, c="DECIMAL", d="DATE"), change(9, 0, c="DECIMAL")]
    with pytest.raises(ColumnTypeError):
        evolve(TableColumns(), changes, {ZERO: 2})
    changes[1] = change(5, 0, c="BIGINT", d="DATE")
    state = CommitState(columns=evolve(TableColumns(), changes[:2], {ZERO: 2}))
    assert CommitState.from_json(state.to_json()) == state


def test_batches_are_cut_where_a_column_becomes_wider() -> None:
    narrow = evolve(TableColumns(), [change(0, c="INT")], NONE)
    more = evolve(narrow, [change(1, c="INT", d="DATE")], NONE)
    wide = evolve(more, [change(2, c="BIGINT", d="DATE")], NONE)
    assert of_one_type([narrow, more, wide, wide]) == [slice(0, 2), slice(2, 4)]
    assert of_one_type([wide]) == [slice(0, 1)]


def test_a_redelivered_declaration_is_recognized_by_its_position() -> None:
    again = Again(start=10, end=None, until=Position(1, 500))
    order = BinlogOrder({"a": Judged([], [again], None)})
    assert order.is_repeated("a", 12, Position(1, 300))
    assert not order.is_repeated("a", 9, Position(1, 300))
    assert not order.is_repeated("a", 12, Position(1, 600))
    assert not order.is_repeated("a", 12, None)
    assert not order.is_repeated("b", 12, Position(1, 300))
    # The last that was read says what is so now, whether it comes again or not.
    assert not order.is_repeated("a", 12, Position(1, 500))
