"""The declared key is the primary key that the records name, whatever its columns' order and case."""

import pytest

from tidemark.capture.apply.columns_by_batch import check_key
from tidemark.capture.errors import DeclaredKeyError
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.source_table import SourceTable


def source(*key: str) -> SourceTable:
    return SourceTable("ods_seats", "school.seats_*", ("a",), key, None, ())


def debezium(*key: str) -> str:
    names = ", ".join(f'"{name}"' for name in key)
    return f'[{{"type": "CREATE", "id": "school.seats_0", "table": {{"primaryKeyColumnNames": [{names}]}}}}]'


@pytest.mark.parametrize("key", [("lesson_id", "user_id"), ("user_id", "lesson_id"), ("LESSON_ID", "user_id")])
def test_the_same_columns_are_the_same_key(key: tuple[str, ...]) -> None:
    (schema,) = parse_declarations(debezium("lesson_id", "user_id")).schemas
    check_key(source(*key), schema)


@pytest.mark.parametrize("key", [("lesson_id",), ("seat",), ("lesson_id", "user_id", "seat")])
def test_any_other_key_is_refused_with_both(key: tuple[str, ...]) -> None:
    (schema,) = parse_declarations(debezium("lesson_id", "user_id")).schemas
    with pytest.raises(
        DeclaredKeyError, match=r"school.seats_0: .*expected key: \[lesson_id, user_id\], found key: \["
    ):
        check_key(source(*key), schema)


def test_a_table_without_a_primary_key_is_refused() -> None:
    (schema,) = parse_declarations(debezium()).schemas
    with pytest.raises(DeclaredKeyError, match="a table with a primary key"):
        check_key(source("id"), schema)


def test_canals_messages_name_the_key_too() -> None:
    changes = '{"physical": "school.seats_0", "types": "{\\"id\\": \\"int(11)\\"}", "key": ["id"]}'
    (schema,) = parse_declarations(changes).schemas
    check_key(source("id"), schema)
    with pytest.raises(DeclaredKeyError):
        check_key(source("seat"), schema)


def test_a_name_that_the_lake_changes_is_compared_as_the_lake_has_it() -> None:
    (schema,) = parse_declarations(debezium("first name")).schemas
    check_key(source("first_name"), schema)


def test_a_declaration_without_a_key_is_not_compared() -> None:
    for changes in ('[{"id": "school.seats_0", "table": {"columns": []}}]', '[{"id": "s.t", "table": {"x": 1}}]'):
        (schema,) = parse_declarations(changes).schemas
        check_key(source("id"), schema)
