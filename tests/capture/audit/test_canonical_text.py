"""What a column is as text on both sides, and which columns are none; the servers' answers are in test_checksums.py."""

import pytest

from tidemark.capture.audit.canonical_text import ColumnText, PhysicalColumn, column_text, is_comparable, row_texts
from tidemark.capture.schema.lake_column_types import SourceColumn, source_column


def column(type_name: str, *sizes: int) -> SourceColumn:
    return source_column("school.orders_0", "v", type_name, *sizes)


def texts(type_name: str, *sizes: int, is_nullable: bool = True, in_key: bool = False) -> ColumnText:
    return column_text(column(type_name, *sizes), PhysicalColumn("v", "", is_nullable), in_key=in_key)


def test_null_has_a_distinct_text() -> None:
    assert texts("INT") == ColumnText("v", "COALESCE(`v` + 0, '~')", "COALESCE(CAST(`v` AS STRING), '~')")


def test_a_decimal_has_the_lakes_scale() -> None:
    assert "CAST(`v` AS DECIMAL(12,4))" in texts("DECIMAL", 12, 4).source
    assert "DECIMAL(20,0)" in texts("BIGINT UNSIGNED").source


def test_texts_are_crc_of_utf_8_and_whole_in_a_key() -> None:
    assert "CRC32(CONVERT(`v` USING utf8mb4))" in texts("VARCHAR", 64).source
    assert "HEX(CONVERT(`v` USING utf8mb4))" in texts("VARCHAR", 64, in_key=True).source
    assert "CRC32(`v`)" in texts("VARBINARY", 16).source


def test_a_zero_date_is_compared_as_capture_stores_it() -> None:
    assert "IF(MONTH(`v`) = 0 OR DAYOFMONTH(`v`) = 0, NULL," in texts("DATE").source
    assert "IF(MONTH(`v`) = 0 OR DAYOFMONTH(`v`) = 0, '1970-01-01'," in texts("DATE", is_nullable=False).source
    assert "'1970-01-01 00:00:00.000000'" in texts("DATETIME", is_nullable=False).lake
    assert "1970" not in texts("TIMESTAMP", is_nullable=False).source


@pytest.mark.parametrize("type_name", ["FLOAT", "DOUBLE"])
def test_floating_numbers_are_left_out_of_keys_alone(type_name: str) -> None:
    physical = PhysicalColumn("v", type_name.lower(), is_nullable=True)
    assert not is_comparable(column(type_name), physical, in_key=True)
    assert is_comparable(column(type_name), physical)


def test_only_mysqls_json_is_left_out() -> None:
    assert not is_comparable(column("JSON"), PhysicalColumn("v", "json", is_nullable=True))
    assert is_comparable(column("JSON"), PhysicalColumn("v", "longtext", is_nullable=True))


def test_a_row_is_its_columns_with_commas_between() -> None:
    both = row_texts([ColumnText("a", "A", "x"), ColumnText("b", "B", "y")])
    assert both == ("CONCAT_WS(',', A, B)", "CONCAT_WS(',', x, y)")


def test_names_are_quoted() -> None:
    renamed = column_text(source_column("", "a`b", "INT"), PhysicalColumn("a`b", "int", is_nullable=True))
    assert (renamed.name, "`a``b`" in renamed.source, "`a_b`" in renamed.lake) == ("a_b", True, True)
