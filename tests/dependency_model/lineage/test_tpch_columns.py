"""Column lineage of TPC-H's queries over captured tables: every column that is named is one of its table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tidemark.dependency_model.lineage.column_lineage import ColumnName, column_lineage
from tidemark.dependency_model.lineage.known_tables import Table, Tables
from tidemark.dependency_model.lineage.parsed_query import read_query

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS: Final = {
    "customer": "c_custkey c_name c_address c_nationkey c_phone c_acctbal c_mktsegment c_comment",
    "lineitem": (
        "l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount l_tax l_returnflag "
        "l_linestatus l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode l_comment"
    ),
    "nation": "n_nationkey n_name n_regionkey n_comment",
    "orders": (
        "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority o_clerk o_shippriority o_comment"
    ),
    "part": "p_partkey p_name p_mfgr p_brand p_type p_size p_container p_retailprice p_comment",
    "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost ps_comment",
    "region": "r_regionkey r_name r_comment",
    "supplier": "s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment",
}
KNOWN: Final = Tables({name: Table(name, ("dt",), tuple(columns.split())) for name, columns in COLUMNS.items()})
UNKNOWN: Final = Tables({name: Table(name, ("dt",)) for name in COLUMNS})
TEXT: Final = (Path(__file__).parent / "tpch.sql").read_text(encoding="utf-8")
QUERIES: Final[dict[str, str]] = dict(re.findall(r"-- (q\d+)\n(.*?);\n", TEXT, re.DOTALL))


def invented(text: str, tables: Tables) -> Iterator[ColumnName]:
    """The columns that a query is said to read of tables that do not have them."""
    lineage = column_lineage(read_query(text), tables)
    for source in (*lineage.indirect, *(source for sources in lineage.direct.values() for source in sources)):
        if source.column not in (*COLUMNS[source.table].split(), "dt"):
            yield source


@pytest.mark.parametrize("name", QUERIES)
def test_no_column_is_invented(name: str) -> None:
    assert list(invented(QUERIES[name], KNOWN)) == []


@pytest.mark.parametrize("name", QUERIES)
def test_every_column_of_the_query_is_named(name: str) -> None:
    """Names of TPC-H's columns tell their tables, so that the text says which are read."""
    lineage = column_lineage(read_query(QUERIES[name]), KNOWN)
    sources = {source.column for sources in lineage.direct.values() for source in sources}
    written = {
        word for columns in COLUMNS.values() for word in columns.split() if re.search(rf"\b{word}\b", QUERIES[name])
    }
    assert sources | {source.column for source in lineage.indirect} == written


def test_without_their_columns_tables_are_said_to_have_each_others() -> None:
    assert len(QUERIES) == 22
    assert sum(any(invented(text, UNKNOWN)) for text in QUERIES.values()) >= 15
