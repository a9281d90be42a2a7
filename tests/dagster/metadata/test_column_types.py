"""Columns as Dagster shows them have the types that Spark says."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tidemark.dagster.metadata.slice import spark_type, table_schema


@pytest.mark.parametrize(
    ("arrow", "spark"),
    [
        (pa.int64(), "bigint"),
        (pa.int32(), "int"),
        (pa.string(), "string"),
        (pa.string_view(), "string"),
        (pa.decimal128(18, 2), "decimal(18,2)"),
        (pa.timestamp("us"), "timestamp_ntz"),
        (pa.timestamp("us", "UTC"), "timestamp"),
        (pa.date32(), "date"),
        (pa.dictionary(pa.int32(), pa.string()), "string"),
        (pa.list_(pa.struct([("a", pa.bool_()), ("b", pa.float64())])), "array<struct<a:boolean,b:double>>"),
        (pa.map_(pa.string(), pa.int16()), "map<string,smallint>"),
    ],
)
def test_a_type_is_in_sparks_words(arrow: pa.DataType, spark: str) -> None:
    assert spark_type(arrow) == spark


def test_columns_keep_their_order() -> None:
    schema = table_schema(pa.schema([("region", pa.string()), ("gmv", pa.decimal128(10, 2))]))
    assert [(column.name, column.type) for column in schema.columns] == [("region", "string"), ("gmv", "decimal(10,2)")]
