"""Source columns and their twins in the lake."""

from pathlib import Path

import pytest

from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.schema.lake_column_types import source_column
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.table_evolution import merge_target
from tidemark.capture.source_table import SourceTable

KINDS = [
    ("BIGINT", None, None, "BIGINT"),
    ("BIGINT UNSIGNED", None, None, "DECIMAL(20,0)"),
    ("INT", None, None, "INT"),
    ("INT UNSIGNED ZEROFILL", None, None, "BIGINT"),
    ("SMALLINT", None, None, "SMALLINT"),
    ("TINYINT", 1, None, "TINYINT"),
    ("VARCHAR", 64, None, "STRING"),
    ("LONGTEXT", None, None, "STRING"),
    ("ENUM", 1, None, "STRING"),
    ("DECIMAL", 10, 2, "DECIMAL(10,2)"),
    ("DECIMAL", None, None, "DECIMAL(10,0)"),
    ("DATE", None, None, "DATE"),
    ("DATETIME", None, None, "TIMESTAMP_NTZ"),
    ("DATETIME", 6, None, "TIMESTAMP_NTZ"),
    ("TIMESTAMP", None, None, "TIMESTAMP"),
    ("VARBINARY", 8, None, "BINARY"),
    ("TIME", 6, None, "STRING"),
    ("YEAR", None, None, "INT"),
    ("BIT", 1, None, "BOOLEAN"),
]


@pytest.mark.parametrize(("type_name", "length", "scale", "delta"), KINDS)
def test_each_type_has_its_twin(type_name: str, length: int | None, scale: int | None, delta: str) -> None:
    column = source_column("school.t", "c", type_name, length, scale)
    assert column.delta == delta
    assert source_column("", column.name, *column.declaration) == column


def test_datetime_is_read_by_its_precision() -> None:
    assert "timestamp_millis" in source_column("t", "c", "DATETIME", 3, None).encoding.decode
    assert "timestamp_micros" in source_column("t", "c", "DATETIME", 4, None).encoding.decode


def test_a_type_without_twin_names_table_and_column() -> None:
    with pytest.raises(ColumnTypeError, match=r"school\.t: .*found c GEOMETRY"):
        source_column("school.t", "c", "GEOMETRY", None, None)


def test_a_dropped_table_says_nothing() -> None:
    assert parse_declarations('[{"type": "DROP", "id": "x", "table": null}]').schemas == ()


def test_a_declared_key_that_the_source_lacks_is_refused() -> None:
    table = SourceTable("ods_t", "school.t", ("a",), ("id",), None, ())
    with pytest.raises(ColumnTypeError, match="expected id, found other"):
        merge_target(table, {"other": "INT"}, Path("warehouse"))
