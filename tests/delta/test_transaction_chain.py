"""A transaction's number is its own only with its identity, and it follows the one before it."""

import json

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake
from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import applied_transaction, read_rows
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.errors import ForeignCommitError
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.open_table import delta_rs_options
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation


def chained(number: int, identity: str) -> Transaction:
    metadata = {"n": number, "identity": identity, "writer": f"writer of {identity}"}
    return Transaction("capture", number, json.dumps(metadata), identity)


@pytest.fixture
def path(lake: TableLocation) -> TableLocation:
    """A table whose newest commit says that it is `mine`."""
    said = CommitProperties(custom_metadata={"userMetadata": chained(3, "mine").metadata})
    write_deltalake(str(lake), pa.table({"id": [1]}), commit_properties=said, storage_options=delta_rs_options(lake))
    return lake


@pytest.mark.parametrize("applied", [None, -1, 0])
def test_the_first_one_follows_nothing(path: TableLocation, applied: int | None) -> None:
    assert not is_replay(path, chained(1, "first"), applied)


def test_the_next_number_is_new_and_the_same_number_with_the_same_identity_is_a_replay(path: TableLocation) -> None:
    assert not is_replay(path, chained(4, "next"), 3)
    assert is_replay(path, chained(3, "mine"), 3)


@pytest.mark.parametrize(("number", "applied"), [(3, 3), (3, 4), (3, 9), (5, 3), (1, 3), (2, None)])
def test_any_other_number_is_foreign(path: TableLocation, number: int, applied: int | None) -> None:
    with pytest.raises(ForeignCommitError, match=rf"expected capture at its transaction {number - 1}, found"):
        is_replay(path, chained(number, "another"), applied)


def test_the_error_names_the_other_writer(path: TableLocation) -> None:
    with pytest.raises(ForeignCommitError, match="written by writer of mine"):
        is_replay(path, chained(3, "another"), 3)


def test_without_an_identity_the_number_alone_decides(path: TableLocation) -> None:
    plain = Transaction("capture", 3, "{}")
    assert [is_replay(path, plain, applied) for applied in (None, 1, 2, 3, 4)] == [False] * 3 + [True] * 2
    first = Transaction("capture", 0, "{}")
    assert [is_replay(path, first, applied) for applied in (None, -1, 0)] == [False, False, True]


@pytest.mark.spark
def test_two_writers_that_count_alike_lose_nothing(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    spark.sql(f"CREATE TABLE {path_table(path)} (id BIGINT, v STRING, _offset BIGINT) USING delta")
    target = MergeTarget(path, ("id", "v", "_offset"), ("id",), "_offset", None, None)

    def merged(row: int, transaction: Transaction) -> bool:
        session = spark.newSession()
        frame = session.createDataFrame([("c", row, "x", row)], "_op STRING, id BIGINT, v STRING, _offset BIGINT")
        return merge_changes(frame, target, None, transaction).replayed

    assert not merged(1, chained(1, "a1"))
    assert merged(1, chained(1, "a1"))
    with pytest.raises(ForeignCommitError):
        merged(2, chained(1, "b1"))
    commit_nothing(spark.newSession(), path, chained(2, "a2"))
    with pytest.raises(ForeignCommitError):
        commit_nothing(spark.newSession(), path, chained(2, "b2"))
    with pytest.raises(ForeignCommitError):
        merged(3, chained(4, "a4"))
    assert not merged(3, chained(3, "b3"))
    assert sorted(read_rows(path, columns=["id"])["id"].to_pylist()) == [1, 3]
    assert applied_transaction(path, "capture")[1] == 3
