"""Whatever a record declares becomes columns of known types, or an error that names the table; never SQL."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from tests.capture.schema.hostile import INJECTION, TEXTS, declaration_of, hostile_changes, put
from tidemark.capture.errors import ColumnTypeError, DeclarationError
from tidemark.capture.schema.lake_column_types import SourceColumn, source_column, text_decode
from tidemark.capture.schema.recorded_schema import TableSchema, parse_declarations
from tidemark.quoting.spark import quote
from tidemark.system.errors import CaptureError

_WORD = re.compile(r"[A-Z]+(_NTZ)?|DECIMAL\(\d{1,2},\d{1,2}\)")
COLUMNS = (0, "table", "columns")


def only_known_sql(column: SourceColumn) -> bool:
    """Whether the column's SQL is what a declaration by hand of the same closed type makes."""
    known = source_column("", "c", *column.declaration)
    return (
        bool(_WORD.fullmatch(column.delta))
        and bool(_WORD.fullmatch(column.encoding.wire))
        and column.encoding == known.encoding
        and column.wire_field == f"{quote(column.source_name)} {known.encoding.wire}"
        and column.from_text("x") == text_decode(known.delta).format("x")
        and not re.search(r"java|reflect|DROP|SELECT|env:", column.decode_sql("x"))
    )


def check(changes: str) -> int:
    """How many columns came of it."""
    columns: list[SourceColumn] = []
    for schema in parse_declarations(changes, "school.own").schemas:
        try:
            columns += schema.source_columns().columns
        except CaptureError as error:
            assert schema.physical in str(error)  # noqa: PT017 - most of them raise nothing
    assert all(only_known_sql(column) for column in columns)
    return len(columns)


def test_whatever_is_declared_no_sql_comes_of_it() -> None:
    chance = Random(20)
    assert sum(check(hostile_changes(chance)) for _ in range(300)) > 100


@pytest.mark.long
def test_whatever_is_declared_no_sql_comes_of_it_ten_thousand_times() -> None:
    chance = Random(21)
    assert sum(check(hostile_changes(chance)) for _ in range(10_000)) > 3_000


@pytest.mark.parametrize("text", TEXTS)
def test_an_unnamed_declaration_belongs_to_its_records_table(text: str) -> None:
    mine = parse_declarations(text, "school.own")
    assert [schema.physical for schema in mine.schemas] == ["school.own"]
    assert mine.problem is not None
    with pytest.raises(DeclarationError, match=r"school\.own: a recorded schema change cannot be read"):
        assert mine.schemas[0].source_columns().columns
    unrouted = parse_declarations(text)
    assert (unrouted.schemas, unrouted.problem) == ((), mine.problem)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("length", INJECTION, "a length that is not a whole number"),
        ("length", 66, "a decimal has 1 to 65 digits"),
        ("scale", 11, "at most all of them after the point"),
        ("scale", True, "a scale that is not a whole number"),
        ("typeName", "DECIMAL(10,2)", "found amount DECIMAL"),
        ("typeName", 7, "a type name that is not a text"),
    ],
)
def test_a_type_is_of_a_closed_set_and_its_sizes_have_limits(field: str, value: object, said: str) -> None:
    hostile = put(declaration_of("orders_0"), (*COLUMNS, 1, field), value)
    (schema,) = parse_declarations(json.dumps(hostile)).schemas
    with pytest.raises(ColumnTypeError, match=said):
        assert schema.source_columns().columns


@pytest.mark.parametrize("value", [None, {}, [], [5], "x", [{"name": "a"}], [{"name": None, "position": 1}]])
def test_an_invalid_list_of_columns_names_the_table(value: object) -> None:
    (schema,) = parse_declarations(json.dumps(put(declaration_of("orders_0"), COLUMNS, value))).schemas
    with pytest.raises(DeclarationError, match=r"school\.orders_0"):
        assert schema.source_columns().columns


def test_names_that_the_lake_refuses_get_others() -> None:
    names = ["first name", "a.b", "_shard", "_OFFSET", "event_ms", "${x}", "plain", "gr\u00f6\u00dfe"]
    listed = [{"name": name, "position": at, "typeName": "INT"} for at, name in enumerate(names, 1)]
    columns = TableSchema("school.t", listed).source_columns().columns
    assert [column.name for column in columns] == [
        "first_name", "a_b", "source_shard", "source_OFFSET", "event_ms", "__x_",
        "plain", "gr\u00f6\u00dfe",
    ]  # fmt: skip
    assert [column.source_name for column in columns] == names


@pytest.mark.parametrize("names", [("NOTE", "note"), ("first name", "first_name"), ("a", "a")])
def test_two_columns_that_are_one_in_the_lake_stop_the_table(names: tuple[str, str]) -> None:
    listed = [{"name": name, "position": at, "typeName": "INT"} for at, name in enumerate(names, 1)]
    with pytest.raises(DeclarationError, match=r"listed twice|one column of the lake"):
        assert TableSchema("school.t", listed).source_columns().columns


@pytest.mark.parametrize("types", ["5", "[]", "{", '{"c": 5}', '{"c": "decimal(99,1)"}'])
def test_printed_types_are_not_trusted_either(types: str) -> None:
    (schema,) = parse_declarations(json.dumps({"physical": "s.t", "types": types})).schemas
    with pytest.raises(CaptureError, match=r"s\.t"):
        assert schema.source_columns().columns


def test_an_unsupported_type_differs_from_an_invalid_type() -> None:
    (schema,) = parse_declarations(json.dumps({"physical": "s.t", "types": '{"id": "int", "c": "geometry"}'})).schemas
    declared_columns = schema.source_columns()
    assert [column.name for column in declared_columns.columns] == ["id"]
    assert declared_columns.unknown.keys() == {"c"}
    assert schema.source_columns({"c"}).unknown == {}
