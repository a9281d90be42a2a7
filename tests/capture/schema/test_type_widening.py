"""Which type holds every value of which."""

import itertools
from collections.abc import Sequence

import pytest

from tidemark.capture.schema.lake_column_types import SourceColumn, source_column
from tidemark.capture.schema.type_widening import conversion

Declared = tuple[str, int | None, int | None]


def kind(type_name: str, length: int | None = None, scale: int | None = None) -> SourceColumn:
    return source_column("school.t", "c", type_name, length, scale)


CHAINS: Sequence[Sequence[Declared]] = [
    [("TINYINT", None, None), ("SMALLINT", None, None), ("INT", None, None), ("BIGINT", None, None)],
    [("BIT", 1, None), ("TINYINT", None, None), ("TINYINT UNSIGNED", None, None), ("SMALLINT UNSIGNED", None, None)],
    [("INT UNSIGNED", None, None), ("BIGINT UNSIGNED", None, None), ("DECIMAL", 20, 0), ("DECIMAL", 22, 2)],
    [("BIGINT", None, None), ("DECIMAL", 19, 0), ("DECIMAL", 25, 6), ("DECIMAL", 38, 10)],
    [("SMALLINT", None, None), ("FLOAT", None, None), ("DOUBLE", None, None)],
    [("INT", None, None), ("DOUBLE", None, None)],
    [("DATE", None, None), ("DATETIME", None, None), ("DATETIME", 3, None), ("DATETIME", 6, None)],
    [("TIMESTAMP", None, None), ("TIMESTAMP", 6, None)],
    [("TIME", None, None), ("TIME", 3, None), ("TIME", 6, None), ("VARCHAR", 17, None)],
    [("DECIMAL", 9, 0), ("INT", None, None)],
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "-".join(kind[0] for kind in chain))
def test_each_type_of_a_chain_is_held_by_all_after_it_and_by_none_before(chain: Sequence[Declared]) -> None:
    for narrow, wide in itertools.combinations(chain, 2):
        assert conversion(kind(*narrow), kind(*wide)) is not None, (narrow, wide)
    for wide, narrow in itertools.combinations(reversed(chain), 2):
        if {wide, narrow} != {("BIGINT UNSIGNED", None, None), ("DECIMAL", 20, 0)}:
            assert conversion(kind(*wide), kind(*narrow)) is None, (wide, narrow)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("DECIMAL", 10, 2), ("DECIMAL", 10, 4)),
        (("DECIMAL", 10, 2), ("DECIMAL", 11, 1)),
        (("INT", None, None), ("DECIMAL", 11, 2)),
        (("INT", None, None), ("FLOAT", None, None)),
        (("BIGINT", None, None), ("DOUBLE", None, None)),
        (("DECIMAL", 10, 2), ("DOUBLE", None, None)),
        (("INT", None, None), ("VARCHAR", 64, None)),
        (("DATE", None, None), ("TIMESTAMP", None, None)),
        (("DATETIME", None, None), ("TIMESTAMP", None, None)),
        (("VARCHAR", 10, None), ("VARBINARY", 10, None)),
        (("BIT", 1, None), ("VARCHAR", 1, None)),
        (("FLOAT", None, None), ("DECIMAL", 38, 10)),
    ],
)
def test_neither_of_two_holds_the_other(first: Declared, other: Declared) -> None:
    assert conversion(kind(*first), kind(*other)) is None
    assert conversion(kind(*other), kind(*first)) is None


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("VARCHAR", 10, None), ("MEDIUMTEXT", None, None)),
        (("ENUM", 1, None), ("VARCHAR", 10, None)),
        (("INT", 11, None), ("MEDIUMINT", 9, None)),
        (("INT UNSIGNED", None, None), ("BIGINT", None, None)),
        (("BLOB", None, None), ("VARBINARY", 8, None)),
        (("YEAR", None, None), ("INT", None, None)),
    ],
)
def test_types_with_one_lake_type_need_no_conversion(first: Declared, other: Declared) -> None:
    assert conversion(kind(*first), kind(*other)) == conversion(kind(*other), kind(*first)) == "{}"


@pytest.mark.parametrize(
    ("old", "new", "sql"),
    [
        (("INT", None, None), ("BIGINT", None, None), "CAST({} AS BIGINT)"),
        (("TIME", None, None), ("TIME", 2, None), "concat({}, '.00')"),
        (("TIME", 2, None), ("TIME", 6, None), "concat({}, '0000')"),
        (("DATETIME", 3, None), ("DATETIME", 6, None), "{}"),
        (("DATE", None, None), ("DATETIME", None, None), "CAST({} AS TIMESTAMP_NTZ)"),
    ],
)
def test_a_converted_value_equals_the_sources(old: Declared, new: Declared, sql: str) -> None:
    assert conversion(kind(*old), kind(*new)) == sql
