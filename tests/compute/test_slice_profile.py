"""Profiles as Spark measures them: in the format that merges here, exact where DuckDB is, kept, and compared."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg
import duckdb
import pytest
from pyspark.sql import functions as sf

from benchmarks.profile.sketched import distinct_sketch, frequent_sketch
from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import computer, materialize, report
from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.compute.profile_aggregates import ProfileAggregates
from tidemark.delta.replace_partition import replace_partition
from tidemark.dependency_model.entity.profile_settings import ProfileSettings
from tidemark.dependency_model.profile.figures import RANKS, SliceFigures, figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.sketches import COUNT_ERROR, DISTINCT_ERROR, RANK_ERROR
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile, merge
from tidemark.dependency_model.slice import Slice
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles, StoredProfile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

MONDAY = date(2026, 3, 23)
SLICE = Slice("cleaned", "2026-03-23")
CLEANED = "SELECT id, amount, region FROM sales WHERE dt = :biz_date\n"
DEEPER = "quality_on_anomaly: [{unique: [id]}]\n"


def test_merged_profiles_of_hours_equal_duckdbs_counts_of_the_day(spark: SparkSession, tmp_path: Path) -> None:
    columns = (
        "id",
        "id % 24 AS hour",
        "CAST(pow(rand(1), 3) * 10000 AS DECIMAL(9, 2)) AS amount",
        "IF(rand(2) < 0.1, NULL, concat('c', CAST(rand(3) * rand(4) * 30 AS INT))) AS city",
        "timestamp_micros(1774000000000000 + CAST(rand(5) * 86400000000 AS BIGINT)) AS seen_at",
        "DATE'2026-03-20' + CAST(rand(6) * 9 AS INT) AS born",
        "rand(7) < 0.2 AS paid",
        "array(id) AS others",
    )
    spark.range(0, 20_000, 1, 2).selectExpr(*columns).write.parquet(str(tmp_path / "day"))
    day = spark.read.parquet(str(tmp_path / "day"))
    aggregates = ProfileAggregates(day.schema, ("hour",), ProfileSettings())
    named = [sf.expr(text).alias(name) for name, text in aggregates.expressions().items()]
    hours = [aggregates.profile(row.asDict()) for row in aggregates.prepare(day).groupBy("hour").agg(*named).collect()]
    figures = figures_of(merge(hours))
    assert (len(hours), figures.rows) == (24, 20_000)
    exact = duckdb.connect()
    exact.execute("SET timezone = 'UTC'")
    exact.execute(f"CREATE VIEW day AS SELECT *, epoch_us(seen_at) AS seen_us FROM '{tmp_path}/day/*.parquet'")  # noqa: S608
    for name in ("id", "amount", "city", "seen_at", "born", "paid"):
        ((values, distinct),) = exact.execute(f"SELECT count({name}), count(DISTINCT {name}) FROM day").fetchall()  # noqa: S608
        assert figures.columns[name].values == values
        assert figures.columns[name].distinct == pytest.approx(distinct, rel=4 * DISTINCT_ERROR)
    ((low, high),) = exact.execute("SELECT min(amount)::VARCHAR, max(amount)::VARCHAR FROM day").fetchall()
    assert (figures.columns["amount"].minimum, figures.columns["amount"].maximum) == (low, high)
    for name, number in (("amount", "amount"), ("seen_at", "seen_us"), ("id", "id")):
        for rank, value in zip(RANKS, figures.columns[name].quantiles, strict=True):
            query = f"SELECT avg(({number} < ?)::INT), avg(({number} <= ?)::INT) FROM day"  # noqa: S608
            ((below, up_to),) = exact.execute(query, [value, value]).fetchall()
            assert below - 1.5 * RANK_ERROR <= rank <= up_to + 1.5 * RANK_ERROR
    counts = dict(exact.execute("SELECT city, count(*) FROM day GROUP BY city").fetchall())
    assert len(figures.columns["city"].frequent) > 1
    for text, rows in figures.columns["city"].frequent:
        assert abs(rows - counts[text]) <= COUNT_ERROR * figures.rows
    assert {value for value, _ in figures.columns["paid"].frequent} == {"true", "false"}
    assert figures.columns["others"].distinct is None


def test_values_that_are_null_or_no_number_are_counted_as_sql_counts_them(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT * FROM VALUES (1, 1.5D, DATE'2026-03-23', 9.25BD), (NULL, double('NaN'), NULL, NULL),"
        " (3, NULL, NULL, -1BD) AS t(whole, broken, day, price)"
    ).withColumn("nothing", sf.lit(None).cast("int"))
    aggregates = ProfileAggregates(rows.schema, (), ProfileSettings())
    named = [sf.expr(text).alias(name) for name, text in aggregates.expressions().items()]
    for some, values in ((rows, (2, 2, 1, 2, 0)), (rows.where("false"), (0, 0, 0, 0, 0))):
        (row,) = aggregates.prepare(some).agg(*named).collect()
        columns = aggregates.profile(row.asDict()).columns
        assert tuple(column.values for column in columns) == values
    (row,) = aggregates.prepare(rows).agg(*named).collect()
    ends = [(column.minimum, column.maximum) for column in aggregates.profile(row.asDict()).columns]
    assert ends == [("1", "3"), ("1.5", "NaN"), ("2026-03-23",) * 2, ("-1.00", "9.25"), (None, None)]


def built(spark: SparkSession, tmp_path: Path, ids: list[int], declared: str = "") -> Warehouse:
    """A table `cleaned` made of sales with these ids on Monday."""
    warehouse = small_warehouse(tmp_path, {"cleaned": (f"period: day\n{declared}", CLEANED)})
    rows = spark.createDataFrame([(number, 10, "eu") for number in ids], "id INT, amount INT, region STRING")
    replace_partition(rows, warehouse.table_path("sales"), {"dt": MONDAY})
    return warehouse


def remember(warehouse: Warehouse, rows: int) -> SliceProfiles:
    """Sixty days of slices with about so many rows each."""
    profiles = SliceProfiles(Database.of(warehouse.settings))
    now = datetime(2026, 3, 23, tzinfo=UTC)
    past = [
        StoredProfile(
            Slice("cleaned", f"{MONDAY - timedelta(days=ago)}"), now, 1, SliceFigures(rows + ago % 3), History.NONE
        )
        for ago in range(1, 61)
    ]
    profiles.put([(stored, SliceProfile(stored.figures.rows)) for stored in past])
    return profiles


def test_a_computed_slice_leaves_its_profile_in_the_store(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = built(spark, tmp_path, [1, 2, 3])
    (done,) = computer(spark, warehouse).compute([SLICE])
    profiles = SliceProfiles(Database.of(warehouse.settings))
    stored = profiles.of([SLICE])[SLICE]
    assert (stored.version, stored.figures.rows, stored.history) == (done.metrics.version, 3, History.NONE)
    assert set(stored.figures.columns) == {"id", "amount", "region"}
    assert (stored.figures.columns["id"].minimum, stored.figures.columns["id"].maximum) == ("1", "3")
    assert figures_of(profiles.mergeable([SLICE])[SLICE]).columns == stored.figures.columns


@pytest.mark.parametrize("is_mapped", [pytest.param(False, marks=pytest.mark.long), True], ids=["files", "scanned"])
def test_the_profile_is_of_the_files_where_these_have_the_table_s_names(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_mapped: bool
) -> None:
    """Spark's aggregates, which cost much more, measure the others; both tell the same."""
    warehouse = built(spark, tmp_path, [1, 2, 3])
    computer(spark, warehouse).compute([SLICE])
    if is_mapped:
        spark.sql(
            f"ALTER TABLE {path_table(warehouse.table_path('cleaned'))} SET TBLPROPERTIES"
            " ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
        )
    scanned: list[int] = []

    def noting(self: ProfileAggregates, figures: Mapping[str, Any]) -> SliceProfile:
        scanned.append(1)
        return of_scan(self, figures)

    of_scan = ProfileAggregates.profile
    monkeypatch.setattr(ProfileAggregates, "profile", noting)
    (done,) = computer(spark, warehouse).compute([SLICE])
    assert len(scanned) == is_mapped
    assert done.audit.figures is not None
    columns = done.audit.figures.columns
    ends: dict[str, Any] = {n: (column.minimum, column.maximum, column.distinct) for n, column in columns.items()}
    assert ends == {
        "id": ("1", "3", pytest.approx(3)),
        "amount": ("10", "10", pytest.approx(1)),
        "region": ("eu", "eu", pytest.approx(1)),
    }


def test_a_slice_without_rows_has_a_profile_of_none(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = built(spark, tmp_path, [])
    (done,) = computer(spark, warehouse).compute([SLICE])
    assert done.audit.profile == SliceProfile(0)


def test_without_a_profile_nothing_is_measured(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = built(spark, tmp_path, [1, 2], "profile: off\n")
    (done,) = computer(spark, warehouse).compute([SLICE])
    assert (done.audit.profile, done.audit.anomaly) == (None, None)
    assert SliceProfiles(Database.of(warehouse.settings)).of([SLICE]) == {}


@pytest.mark.parametrize(
    ("ids", "declared", "held_back"),
    [
        pytest.param([1, 2, 3], "", [], id="a warning", marks=pytest.mark.long),
        pytest.param([1, 2, 3], "anomalies: block\n", ["anomaly"], id="by policy"),
        pytest.param([1, 2, 3], DEEPER, [], id="a deeper rule that holds", marks=pytest.mark.long),
        pytest.param([1, 2, 2], DEEPER, ["unique"], id="a deeper rule that does not"),
    ],
)
def test_an_anomaly_runs_the_deeper_rules_and_holds_back_only_by_them_or_by_policy(
    spark: SparkSession, tmp_path: Path, ids: list[int], declared: str, held_back: list[str]
) -> None:
    warehouse = built(spark, tmp_path, ids, declared)
    profiles = remember(warehouse, 5_000)
    (done,) = computer(spark, warehouse).compute([SLICE])
    verdict = done.audit.anomaly
    assert verdict is not None
    assert (verdict.passed, list(verdict.broken)) == (False, held_back)
    assert verdict.reason.startswith("rows: 3, expected about 5,00")
    assert [check.name for check in verdict.deeper] == (["unique"] if declared == DEEPER else [])
    assert [anomaly.measure for anomaly in profiles.of([SLICE])[SLICE].anomalies] == ["rows"]
    assert [stored.slice for stored in profiles.anomalous()] == [SLICE]


def test_deeper_rules_rest_where_all_is_as_expected(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = built(spark, tmp_path, [1, 1], DEEPER)
    remember(warehouse, 2)
    (done,) = computer(spark, warehouse).compute([SLICE])
    assert done.audit.anomaly is not None
    assert (done.audit.anomaly.passed, done.audit.anomaly.deeper) == (True, ())


@pytest.mark.parametrize(
    ("usual", "held_back"),
    [pytest.param(["eu"] * 300, [], marks=pytest.mark.long), (["eu", "cn"] * 150, ["drift"]), ([], [])],
    ids=["same", "other", "none"],
)
def test_drift_is_judged_by_the_profile_of_the_same_scan(
    spark: SparkSession, tmp_path: Path, usual: list[str], held_back: list[str]
) -> None:
    warehouse = built(spark, tmp_path, list(range(300)), "quality: [{drift: {column: region}}]\n")
    if usual:
        remember_regions(warehouse, usual)
    (done,) = computer(spark, warehouse).compute([SLICE])
    assert list(done.audit.broken) == held_back
    (check,) = done.audit.checks
    assert (check.passed, check.is_unknown) == (not held_back, False)
    assert ("expected at most 0.1" in check.reason, "no values of region to compare" in check.reason) == (
        bool(usual),
        not usual,
    )
    stored = SliceProfiles(Database.of(warehouse.settings)).of([SLICE])[SLICE]
    assert (stored.version == NOT_PUBLISHED) is bool(held_back)


def remember_regions(warehouse: Warehouse, regions: list[str]) -> None:
    """What the regions of the four Mondays before were."""
    column = ColumnProfile(
        "region", ColumnKind.TEXT, len(regions), None, None, distinct_sketch([1]), None, frequent_sketch(regions)
    )
    profile = SliceProfile(len(regions), (column,))
    mondays = [Slice("cleaned", f"{MONDAY - timedelta(weeks=ago)}") for ago in range(1, 5)]
    now = datetime(2026, 3, 23, tzinfo=UTC)
    past = [StoredProfile(slice_, now, 1, figures_of(profile), History.NONE) for slice_ in mondays]
    SliceProfiles(Database.of(warehouse.settings)).put([(stored, profile) for stored in past])


@pytest.mark.parametrize(
    ("declared", "severity"),
    [
        ("", dg.AssetCheckSeverity.WARN),
        pytest.param("anomalies: block\n", dg.AssetCheckSeverity.ERROR, marks=pytest.mark.long),
    ],
)
def test_dagster_shows_the_anomaly_of_the_partition_and_plots_the_profile(
    spark: SparkSession, tmp_path: Path, declared: str, severity: dg.AssetCheckSeverity
) -> None:
    warehouse = built(spark, tmp_path, [1, 2, 3], f"{declared}depends_on: [sales]\n")
    profiles, key = remember(warehouse, 5_000), dg.AssetKey("cleaned")
    with dg.DagsterInstance.ephemeral() as instance:
        report(instance, "sales", SLICE.key)
        result = materialize(warehouse, instance, ["cleaned"], SLICE.key, raises=False)
        told = instance.get_latest_materialization_event(key)
    check, *of_validity = result.get_asset_check_evaluations()
    assert [told.passed for told in of_validity] == ([] if result.success else [False])
    assert (check.check_name, check.partition, check.passed, check.severity) == (CHECK_NAME, SLICE.key, False, severity)
    assert str(check.description).startswith("rows: 3, expected about 5,00")
    assert result.success is (severity is dg.AssetCheckSeverity.WARN)
    assert (profiles.of([SLICE])[SLICE].version == NOT_PUBLISHED) is not result.success
    assert (told is not None) is result.success
    if told is not None and told.asset_materialization is not None:
        metadata = told.asset_materialization.metadata
        assert (metadata["nulls of id"].value, metadata["distinct region"].value) == (0.0, 1)
        assert "| region | 0.00% | 1 | eu |" in str(metadata["profile"].value)
