"""A name is refused where Spark's analyzer refuses it, and nowhere else: generated queries over nested types."""

from __future__ import annotations

import logging
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException

from tests.compute.clear_names import NAMES
from tests.compute.nested_queries import TABLES, Generator, schema
from tests.seeds import chunks
from tidemark.dependency_model.lineage.known_tables import Table, Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KNOWN = Tables({name: Table(name, ("dt",), tuple(dict(columns))) for name, columns in TABLES.items()})
UNKNOWN = Tables({name: Table(name, ("dt",)) for name in TABLES})
_CHUNK = 250
_WRONG = (0.0, 0.0, 0.08)
"""How likely a reference is one to nothing: in two of three queries none is."""


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    own = spark.newSession()
    for name in TABLES:
        own.createDataFrame([], schema(name)).createOrReplaceTempView(name)
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # PySpark logs each refused query with the JVM's stack
    yield own
    logging.disable(before)


def _refused_by_spark(session: SparkSession, sql: str) -> bool | None:
    """Whether a name is of no column; None where Spark refuses the query for something else."""
    try:
        session.sql(sql)
    except ParseException:
        return None
    except AnalysisException as error:
        return True if (error.getCondition() or "").startswith(("UNRESOLVED_COLUMN", "AMBIGUOUS_")) else None
    except Py4JJavaError as error:
        if "INTERNAL_ERROR" not in str(error):
            raise
        return None
    return False


def _refused_by_us(sql: str, tables: Tables = KNOWN) -> str:
    try:
        bind(read_query(sql), tables)
    except QueryError as error:
        return str(error)
    return ""


def _compare(session: SparkSession, seeds: range) -> Counter[bool | None]:
    outcomes: Counter[bool | None] = Counter()
    for seed in seeds:
        random = Random(seed)
        generator = Generator(random, random.choice(_WRONG))
        sql = generator.query().sql
        theirs, ours = _refused_by_spark(session, sql), _refused_by_us(sql)
        outcomes[theirs] += 1
        if theirs is False:
            assert ours == "", f"seed {seed}: refused, and Spark takes it: {ours}\n{sql}"
        if theirs and not generator.has_wrong_below_open:
            assert "no such column" in ours or "ambiguous column" in ours, f"seed {seed}: taken by us\n{sql}"
    return outcomes


@pytest.mark.parametrize("sql", NAMES)
def test_names_of_several_columns_are_refused_where_spark_refuses_them(session: SparkSession, sql: str) -> None:
    """A column that is listed twice is one column, and a table's name lasts until an operator makes another column."""
    theirs = _refused_by_spark(session, sql)
    assert bool(_refused_by_us(sql)) == theirs
    assert theirs or not _refused_by_us(sql, UNKNOWN)


def test_names_are_refused_where_spark_refuses_them(session: SparkSession) -> None:
    outcomes = _compare(session, range(40))
    assert outcomes[True] >= 3
    assert outcomes[False] >= 25


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(1_000, _CHUNK))
def test_many_names_are_refused_where_spark_refuses_them(session: SparkSession, first: int) -> None:
    outcomes = _compare(session, range(first, first + _CHUNK))
    assert outcomes[True] >= _CHUNK // 25
    assert outcomes[None] <= _CHUNK // 25
