"""Clustering a table: the rows stay, the files become narrow, the log says OPTIMIZE; every kind of table."""

import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tests.delta.clustering.tables import actions, added_files, content, create_table, size_of
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.clustering.errors import ClusterColumnError, ClusterTableError
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.errors import NotADeltaTableError
from tidemark.delta.open_table import open_table
from tidemark.errors import TerminalError
from tidemark.quoting.spark import path_table
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

LOG = "_delta_log"
ROWS = ("id", "CAST(hash(id) % 1000 AS INT) AS a", "CAST(hash(id, 1) % 1000 AS INT) AS b")


def everything_in(path: TableLocation) -> list[str]:
    store = stored_files(path)
    return sorted([*store.names(), *store.names_in(LOG)])


@pytest.mark.long
def test_an_optimize_that_changes_nothing_but_the_files(spark: SparkSession, lake: TableLocation) -> None:
    path = create_table(spark, lake / "t", spark.range(3000).selectExpr(*ROWS, "id % 2 = 0 AS even"))
    before = content(spark, path)
    report = cluster_table(spark, path, Clustering.by("a", "b", target_bytes=size_of(path) // 9))
    assert content(spark, path) == before
    assert (report.versions, report.rows, report.files_before, report.again) == ((3,), 3000, 6, 0)
    log = actions(path, 3)
    info = next(action["commitInfo"] for action in log if "commitInfo" in action)
    assert (info["operation"], info["operationParameters"]["zOrderBy"]) == ("OPTIMIZE", '["a","b"]')
    assert not any(action[kind]["dataChange"] for action in log for kind in ("add", "remove") if kind in action)
    files = added_files(path, 3)
    assert len(files) == report.files_after >= 8
    for name in ("a", "b"):
        widths = [file["stats"]["maxValues"][name] - file["stats"]["minValues"][name] for file in files]
        assert sum(widths) / len(widths) < 900
    assert max(file["stats"]["numRecords"] for file in files) < 1.5 * 3000 / len(files)


@pytest.mark.long
def test_partitions_predicate_and_mapped_names(spark: SparkSession, lake: TableLocation) -> None:
    rows = spark.range(2000).selectExpr(*ROWS, "IF(id % 5 = 0, NULL, id % 3) AS `the part`")
    path = create_table(spark, lake / "t", rows, partition="`the part`", delta_columnMapping_mode="name")
    spark.sql(f"ALTER TABLE {path_table(path)} RENAME COLUMN a TO `new name`")
    before, version = content(spark, path), current_version(path) or 0
    clustering = Clustering.by("new name", "b", target_bytes=size_of(path) // 16)
    report_of_part = cluster_table(spark, path, clustering, where="`the part` = 1")
    assert 0 < report_of_part.rows < 1000
    assert {str(file["partitionValues"].values()) for file in added_files(path, version + 1)} == {"dict_values(['1'])"}
    rest = cluster_table(spark, path, clustering)
    assert rest.rows == 2000
    assert content(spark, path) == before
    assert {len(file["partitionValues"]) for file in added_files(path, rest.versions[0])} == {1}


@pytest.mark.long
def test_hidden_rows_stay_hidden_and_their_vectors_go(spark: SparkSession, lake: TableLocation) -> None:
    path = create_table(spark, lake / "t", spark.range(2000).selectExpr(*ROWS), delta_enableDeletionVectors="true")
    spark.sql(f"DELETE FROM {path_table(path)} WHERE id % 4 = 1")  # noqa: S608 - quoted
    before, version = content(spark, path), current_version(path) or 0
    assert any("deletionVector" in file for file in added_files(path, version))
    report = cluster_table(spark, path, Clustering.by("a", "b", target_bytes=size_of(path) // 6))
    assert (report.rows, content(spark, path)) == (1500, before)
    assert not any(file.get("deletionVector") for file in added_files(path, version + 1))


@pytest.mark.long
def test_files_that_delta_rs_wrote_again(spark: SparkSession, lake: TableLocation) -> None:
    rows = spark.range(2000).selectExpr(*ROWS, "CONCAT('text ', id % 97) AS s")
    path = create_table(spark, lake / "t", rows)
    open_table(path).delete("id % 3 = 0")
    store = stored_files(path)
    file = store.arrow_source(store.name_of(open_table(path).file_uris()[0]))
    assert pq.ParquetFile(file).schema_arrow.field("s").type == pa.string_view()
    before = content(spark, path)
    report = cluster_table(spark, path, Clustering.by("s", "a", target_bytes=size_of(path) // 12))
    assert (report.rows, content(spark, path)) == (1333, before)


def test_only_new_files_and_small_passes_with_them(spark: SparkSession, lake: TableLocation) -> None:
    rows = spark.range(8000).selectExpr(*ROWS)
    path = create_table(spark, lake / "t", rows)
    clustering = Clustering.by("a", "b", target_bytes=size_of(path) // 8)
    assert cluster_table(spark, path, clustering, only="new").rows == 8000
    assert cluster_table(spark, path, clustering, only="new").versions == ()
    for first in (8000, 8100):
        new = spark.range(first, first + 100).selectExpr(*ROWS)
        new.repartition(2).write.format("delta").mode("append").save(str(path))
        # The second time the first hundred are small beside it, and join.
        assert cluster_table(spark, path, clustering, only="new").rows == first - 7900
    assert read_table(spark, path).count() == 8200
    assert cluster_table(spark, path, Clustering.by("b", target_bytes=clustering.target_bytes), only="new").rows == 8200


def test_bounds_tell_texts_with_a_long_common_beginning_apart(spark: SparkSession, lake: TableLocation) -> None:
    rows = spark.range(2000).select(sf.format_string("%s%05d", sf.lit("x" * 50), sf.hash("id") % 10_000).alias("t"))
    path = create_table(spark, lake / "t", rows)
    cluster_table(spark, path, Clustering.by("t", target_bytes=size_of(path) // 6))
    lows = [file["stats"]["minValues"]["t"] for file in added_files(path, 3)]
    assert len(set(lows)) == len(lows) >= 5


@pytest.mark.long
def test_any_columns_are_carried_along(spark: SparkSession, lake: TableLocation) -> None:
    rows = spark.range(300).selectExpr(
        "id",
        "IF(id % 7 = 0, NULL, id) AS k",
        "map(id, 'v', id + 1, NULL) AS m",
        "array(struct(id AS x, map('a', id) AS y)) AS n",
        "CAST(CAST(id AS STRING) AS BINARY) AS raw",
        "parse_json(concat('{\"a\":', id, '}')) AS doc",
    )
    path = create_table(spark, lake / "t", rows)
    before = content(spark, path)
    assert cluster_table(spark, path, Clustering.by("k", target_bytes=size_of(path) // 4)).rows == 300
    assert content(spark, path) == before


@pytest.fixture(scope="module")
def narrow(spark: SparkSession, warehouse_location: TableLocation) -> TableLocation:
    """A partitioned table whose third column has no bounds in the log; nobody writes to it."""
    rows = spark.range(9).selectExpr("1 AS a", "true AS even", "'x' AS p", "id AS late")
    return create_table(
        spark, warehouse_location / uuid.uuid4().hex, rows, 2, "p", delta_dataSkippingNumIndexedCols="2"
    )


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        (("A", "c"), ClusterColumnError, "found c"),
        (("even",), ClusterColumnError, "even boolean"),
        (("p",), ClusterColumnError, "partitioned by this column"),
        (("late",), ClusterColumnError, "no bounds"),
        ((), ClusterColumnError, "found none"),
        (("a", "A"), ClusterColumnError, "different columns"),
    ],
)
def test_refused_before_any_work(
    spark: SparkSession, narrow: TableLocation, columns: tuple[str, ...], error: type[TerminalError], said: str
) -> None:
    before = everything_in(narrow)
    with pytest.raises(error, match=said):
        cluster_table(spark, narrow, Clustering.by(*columns))
    assert everything_in(narrow) == before


def test_tables_that_would_lose_something(spark: SparkSession, lake: TableLocation) -> None:
    path = create_table(spark, lake / "t", spark.range(9).selectExpr("id"), delta_enableRowTracking="true")
    with pytest.raises(ClusterTableError, match="row tracking"):
        cluster_table(spark, path, Clustering.by("id"))
    spark.sql(f"CREATE TABLE {path_table(lake / 'l')} (id INT) USING delta CLUSTER BY (id)")
    with pytest.raises(ClusterTableError, match="liquid"):
        cluster_table(spark, lake / "l", Clustering.by("id"))
    with pytest.raises(NotADeltaTableError):
        cluster_table(spark, lake / "none", Clustering.by("id"))
