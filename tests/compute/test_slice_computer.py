"""Slices computed by Spark on small tables: what is read, written, checked and refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from deltalake import DeltaTable

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tidemark.compute import slice_computer
from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.compute.errors import SnapshotMissingError
from tidemark.compute.input_views import Inputs
from tidemark.compute.slice_computer import Computer
from tidemark.dagster.definitions import build_definitions
from tidemark.dagster.metadata.slice import preview_table
from tidemark.delta.clustering.usage_recorder import UsageRecorder
from tidemark.delta.delta_rs_table import read_partition
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.entity.quality_rules import check_names
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.flaws import VALIDITY_CHECK
from tidemark.olap import open_store
from tidemark.state_store.database import Database
from tidemark.state_store.rule_results import RuleResults
from tidemark.state_store.scan_counts import ScanCounts
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

MONDAY, TUESDAY, WEDNESDAY = (date(2026, 3, day) for day in (23, 24, 25))
SALES: dict[date, list[tuple[int, int, str | None]]] = {
    MONDAY: [(1, 10, "cn"), (2, 5, "eu"), (3, 1, "cn")],
    TUESDAY: [(4, 7, "eu")],
    WEDNESDAY: [(5, 100, "cn")],
}


@pytest.fixture
def warehouse(tmp_path: Path, spark: SparkSession) -> Warehouse:
    built = small_warehouse(tmp_path)
    fill(spark, built, SALES)
    return built


def fill(spark: SparkSession, warehouse: Warehouse, sales: dict[date, list[tuple[int, int, str | None]]]) -> None:
    parts = [
        ({"dt": day}, spark.createDataFrame(rows, "id INT, amount INT, region STRING")) for day, rows in sales.items()
    ]
    replace_partitions(parts, warehouse.table_path("sales"))


def computer(spark: SparkSession, warehouse: Warehouse) -> Computer:
    usage = UsageRecorder(ScanCounts(Database.of(warehouse.settings)))
    database = Database.at(warehouse.settings.state_db)
    return Computer(spark, warehouse, SnapshotRegistry(database), usage, SliceProfiles(database), RuleResults(database))


def rows(warehouse: Warehouse, name: str, day: date) -> list[tuple[object, ...]]:
    stored = read_partition(warehouse.table_path(name), {"dt": day}).to_pylist()
    return sorted(tuple(row.values()) for row in stored)


def test_slices_of_a_run_are_one_commit_each_with_its_own_figures(spark: SparkSession, warehouse: Warehouse) -> None:
    done = computer(spark, warehouse).compute([Slice("totals", "2026-03-23"), Slice("totals", "2026-03-24")])
    assert rows(warehouse, "totals", MONDAY) == [("cn", 11), ("eu", 5)]
    assert rows(warehouse, "totals", TUESDAY) == [("eu", 7)]
    assert [result.metrics.rows for result in done] == [2, 1]
    assert (
        {result.metrics.version for result in done}
        == {DeltaTable(str(warehouse.table_path("totals"))).version()}
        == {0}
    )
    assert all(check.passed for result in done for check in result.audit.checks)
    assert "| eu | 7 |" in preview_table(done[-1].sample)


@pytest.mark.long
def test_computing_again_leaves_the_same_rows(spark: SparkSession, warehouse: Warehouse) -> None:
    for _ in range(2):
        computer(spark, warehouse).compute([Slice("totals", "2026-03-23")])
    assert rows(warehouse, "totals", MONDAY) == [("cn", 11), ("eu", 5)]


def test_a_query_sees_only_the_slices_that_it_declares(spark: SparkSession, warehouse: Warehouse) -> None:
    """`running` counts without a predicate: it must see two days, never the third."""
    computer(spark, warehouse).compute([Slice("totals", "2026-03-24")])
    computer(spark, warehouse).compute([Slice("running", "2026-03-24")])
    assert rows(warehouse, "running", TUESDAY) == [(4,)]


def test_the_filters_of_a_query_are_recorded_for_each_slice(spark: SparkSession, tmp_path: Path) -> None:
    chinese = "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date AND region = 'cn' GROUP BY region\n"
    warehouse = small_warehouse(tmp_path, {"totals": (DECLARED["totals"][0], chinese)})
    fill(spark, warehouse, SALES)
    computing = computer(spark, warehouse)
    computing.compute([Slice("totals", "2026-03-23"), Slice("totals", "2026-03-24")])
    computing.compute([Slice("totals", "2026-03-25")])
    scans = ScanCounts(Database.of(warehouse.settings)).of(str(warehouse.table_path("sales")))
    assert scans == {frozenset({"region"}): 3}


def test_a_query_as_another_system_has_it_runs_as_its_select(spark: SparkSession, tmp_path: Path) -> None:
    inserting = """SET spark.sql.shuffle.partitions = 7;
-- totals of a day
INSERT OVERWRITE TABLE ads.totals PARTITION (dt = :biz_date)
SELECT region, sum(amount) AS amount -- sales; all of them
FROM `ads`.sales AS s WHERE s.dt = :biz_date AND region <> 'ads.sales;' GROUP BY region;
"""
    warehouse = small_warehouse(tmp_path, {"totals": (DECLARED["totals"][0], inserting)})
    fill(spark, warehouse, SALES)
    computer(spark, warehouse).compute([Slice("totals", "2026-03-23")])
    assert rows(warehouse, "totals", MONDAY) == [("cn", 11), ("eu", 5)]


def test_a_broken_rule_shows_the_found_value(tmp_path: Path, spark: SparkSession) -> None:
    unknown, foreign, doubled, none = (date(2026, 3, day) for day in (23, 24, 25, 26))
    query = """
        SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date AND amount < 100 GROUP BY region
        UNION ALL SELECT region, amount * 2 FROM sales WHERE dt = :biz_date AND amount >= 100
    """
    warehouse = small_warehouse(tmp_path, {"totals": (DECLARED["totals"][0], query)})
    sales: dict[date, list[tuple[int, int, str | None]]] = {
        unknown: [(1, 10, None)],
        foreign: [(1, 10, "us")],
        doubled: [(1, 100, "cn"), (2, 150, "eu"), (3, 110, "cn")],
        none: [],
    }
    fill(spark, warehouse, sales)
    done = computer(spark, warehouse).compute([Slice("totals", day.isoformat()) for day in sales])
    failures = [{check.name: check.reason for check in told.audit.checks if not check.passed} for told in done]
    assert failures == [
        {"not_null": "1 rows with NULL in region"},
        {"accepted_values": "1 rows with region outside of cn, eu"},
        {"unique": "1 rows with a key (region) seen before", "reconcile": "sum(amount) is 720, the source says 360"},
        {"row_count": "0 rows, expected 1 to 3"},
    ]


def test_a_slice_that_breaks_a_rule_leaves_its_table_unchanged(tmp_path: Path, spark: SparkSession) -> None:
    warehouse, days = small_warehouse(tmp_path), [Slice("totals", f"2026-03-{day}") for day in (23, 24)]
    fill(spark, warehouse, {MONDAY: [(1, 10, "us")], TUESDAY: SALES[TUESDAY]})
    refused, published = computer(spark, warehouse).compute(days)
    assert [result.is_published for result in (refused, published)] == [False, True]
    assert (rows(warehouse, "totals", MONDAY), rows(warehouse, "totals", TUESDAY)) == ([], [("eu", 7)])
    assert (refused.metrics.rows, len(refused.aside), refused.sample) == (1, 1, None)
    fill(spark, warehouse, {**SALES, TUESDAY: [(4, 7, "us")]})
    published, refused = computer(spark, warehouse).compute(days)
    assert [result.is_published for result in (published, refused)] == [True, False]
    assert rows(warehouse, "totals", MONDAY) == [("cn", 11), ("eu", 5)]
    assert rows(warehouse, "totals", TUESDAY) == [("eu", 7)]


def test_slices_that_read_a_refused_slice_are_not_computed(tmp_path: Path, spark: SparkSession) -> None:
    chained = """
period: day
depends_on: [{entity: sales, offset: Set 0}, {entity: chained, offset: Set -1}]
quality: [{accepted_values: {column: n, values: [3, 5]}}]
"""
    query = "SELECT count(*) + coalesce((SELECT max(n) FROM chained), 0) AS n FROM sales\n"
    warehouse = small_warehouse(tmp_path, {"chained": (chained, query)})
    fill(spark, warehouse, SALES)
    done = computer(spark, warehouse).compute([Slice("chained", f"2026-03-{day}") for day in (23, 24, 25)])
    assert [(result.slice.key, result.is_published) for result in done] == [("2026-03-23", True), ("2026-03-24", False)]
    assert done[1].audit.broken == {"accepted_values": "1 rows with n outside of 3, 5"}
    assert [rows(warehouse, "chained", day) for day in SALES] == [[(3,)], [], []]


def test_an_untagged_snapshot_is_an_error_that_says_what_to_do(tmp_path: Path, spark: SparkSession) -> None:
    captured = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
    warehouse = small_warehouse(tmp_path, {"sales": (captured, "")})
    with pytest.raises(SnapshotMissingError, match="let the capture continue"):
        computer(spark, warehouse).snapshots([Slice("sales", "2026-03-23")])


@pytest.mark.long
def test_snapshots_that_arrived_together_are_judged_each_by_its_own_rows(tmp_path: Path, spark: SparkSession) -> None:
    captured = (
        "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
        "quality: [{unique: [id]}, {not_null: [id]}, {row_count: {min: 1}}]\n"
    )
    warehouse = small_warehouse(tmp_path, {"sales": (captured, "")})
    path, registry = warehouse.table_path("sales"), SnapshotRegistry.at(warehouse.settings.state_db)
    contents: list[tuple[str, list[tuple[object, ...]]]] = [
        ("id INT", [(1,), (2,)]),
        ("id INT, note STRING", [(1, "a"), (1, "b"), (None, "c")]),
        ("id INT", []),
    ]
    for version, (day, (schema, rows)) in enumerate(zip(SALES, contents, strict=True)):
        frame = spark.createDataFrame(rows, schema)
        frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(path))
        tagged_at = datetime(2026, 3, 26, tzinfo=UTC)
        registry.tag([TaggedSnapshot("sales", "day", day.isoformat(), version, len(rows), tagged_at)])
    results = computer(spark, warehouse).snapshots([Slice("sales", day.isoformat()) for day in SALES])
    assert [result.metrics.rows for result in results] == [2, 3, 0]
    assert [{check.name: check.passed for check in result.audit.checks} for result in results] == [
        {"unique": True, "not_null": True, "row_count": True},
        {"unique": False, "not_null": False, "row_count": True},
        {"unique": True, "not_null": True, "row_count": False},
    ]


class TestInDagster:
    """The same entities as assets, materialized as the UI does it."""

    def test_a_slice_without_its_inputs_is_skipped_with_the_reason_and_nothing_is_written(
        self, warehouse: Warehouse
    ) -> None:
        with dg.DagsterInstance.ephemeral() as instance:
            result = materialize(warehouse, instance, ["totals"], "2026-03-23")
            assert result.success
            assert instance.get_materialized_partitions(dg.AssetKey("totals")) == set()
            (seen,) = instance.fetch_observations(dg.AssetKey("totals"), limit=9).records
        observation = seen.asset_observation
        assert observation is not None
        assert observation.partition == "2026-03-23"
        assert "missing sales@2026-03-23" in str(observation.description)
        assert not DeltaTable.is_deltatable(str(warehouse.table_path("totals")))

    def test_ads_is_published_and_its_metadata_has_a_picture(self, warehouse: Warehouse) -> None:
        with dg.DagsterInstance.ephemeral() as instance:
            report(instance, "sales", "2026-03-23")
            result = materialize(warehouse, instance, ["totals", "olap_totals"], "2026-03-23")
        metadata = result.asset_materializations_for_node("totals")[0].metadata
        assert metadata["dagster/row_count"].value == 2
        assert str(metadata["plot"].value).startswith("![totals 2026-03-23](data:image/svg+xml,")
        published = open_store("duckdb", warehouse.settings.data).read("totals", {"dt": MONDAY}).to_pylist()
        assert sorted((row["region"], row["amount"]) for row in published) == [("cn", 11), ("eu", 5)]

    def test_a_slice_that_fails_its_checks_is_not_materialized(self, tmp_path: Path, spark: SparkSession) -> None:
        warehouse = small_warehouse(tmp_path)
        fill(spark, warehouse, {MONDAY: [(1, 10, "us")]})
        with dg.DagsterInstance.ephemeral() as instance:
            report(instance, "sales", "2026-03-23")
            result = materialize(warehouse, instance, ["totals", "olap_totals"], "2026-03-23", raises=False)
            assert not result.success
            assert instance.get_materialized_partitions(dg.AssetKey("totals")) == set()
            assert instance.get_materialized_partitions(dg.AssetKey("olap_totals")) == set()
        verdicts = {evaluation.check_name: evaluation.passed for evaluation in result.get_asset_check_evaluations()}
        assert verdicts["accepted_values"] is False
        assert verdicts["unique"] is True
        assert verdicts[VALIDITY_CHECK] is False

    @pytest.mark.long
    def test_only_the_good_slices_of_a_range_are_materialized(self, tmp_path: Path, spark: SparkSession) -> None:
        warehouse = small_warehouse(tmp_path)
        fill(spark, warehouse, {**SALES, TUESDAY: [(4, 7, "us")]})
        tags = {"dagster/asset_partition_range_start": "2026-03-23", "dagster/asset_partition_range_end": "2026-03-25"}
        key = dg.AssetKey("totals")
        with dg.DagsterInstance.ephemeral() as instance:
            for day in SALES:
                report(instance, "sales", day.isoformat())
            result = materialize(warehouse, instance, ["totals"], None, raises=False, tags=tags)
            assert not result.success
            told = [record.asset_materialization for record in instance.fetch_materializations(key, limit=9).records]
        rows_of = {event.partition: event.metadata["dagster/row_count"].value for event in told if event}
        assert rows_of == {"2026-03-23": 2, "2026-03-25": 1}
        failed = [check for check in result.get_asset_check_evaluations() if not check.passed]
        assert [(check.check_name, check.partition) for check in failed] == [
            ("accepted_values", "2026-03-24"),
            (VALIDITY_CHECK, "2026-03-24"),
        ]
        shown: dict[str, Any] = {name: value.value for name, value in failed[0].metadata.items()}
        assert (shown["refused_rows"], shown["refused_files_in"]) == (1, str(warehouse.table_path("totals")))
        assert all((warehouse.table_path("totals") / file).is_file() for file in shown["refused_files"])

    def test_a_range_of_partitions_is_one_run_and_each_slice_tells_of_itself(self, warehouse: Warehouse) -> None:
        with dg.DagsterInstance.ephemeral() as instance:
            for day in ("2026-03-23", "2026-03-24"):
                report(instance, "sales", day)
            tags = {
                "dagster/asset_partition_range_start": "2026-03-23",
                "dagster/asset_partition_range_end": "2026-03-24",
            }
            result = materialize(warehouse, instance, ["totals"], None, tags=tags)
            assert instance.get_materialized_partitions(dg.AssetKey("totals")) == {"2026-03-23", "2026-03-24"}
        told = {event.partition: event.metadata for event in result.asset_materializations_for_node("totals")}
        assert {key: shown["dagster/row_count"].value for key, shown in told.items()} == {
            "2026-03-23": 2,
            "2026-03-24": 1,
        }
        assert "| eu | 5 |" in str(told["2026-03-23"]["preview"].value)
        assert "| eu | 7 |" in str(told["2026-03-24"]["preview"].value)
        schema = told["2026-03-24"]["dagster/column_schema"].value
        assert isinstance(schema, dg.TableSchema)
        assert [(column.name, column.type) for column in schema.columns] == [
            ("region", "string"),
            ("amount", "bigint"),
            ("dt", "date"),
        ]
        checks = result.get_asset_check_evaluations()
        assert {check.partition for check in checks} == {"2026-03-23", "2026-03-24"}
        rules = check_names(warehouse.entities["totals"].quality)
        assert {check.check_name for check in checks if check.partition == "2026-03-24"} == {
            *rules,
            CHECK_NAME,
            VALIDITY_CHECK,
        }


def materialize(
    warehouse: Warehouse,
    instance: dg.DagsterInstance,
    names: list[str],
    key: str | None,
    *,
    raises: bool = True,
    tags: dict[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    job = build_definitions(warehouse).resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        instance=instance,
        partition_key=key,
        asset_selection=[dg.AssetKey(name) for name in names],
        raise_on_error=raises,
        tags=tags,
    )


def report(instance: dg.DagsterInstance, name: str, key: str) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(name, partition=key))


def test_the_number_of_read_rows_is_that_of_the_inputs(spark: SparkSession, warehouse: Warehouse) -> None:
    registry = SnapshotRegistry(Database.at(warehouse.settings.state_db))
    inputs = Inputs(spark.newSession(), warehouse, registry)
    computer(spark, warehouse).compute([Slice("totals", "2026-03-24")])
    expected = {
        (Slice("totals", "2026-03-23"),): len(SALES[MONDAY]),
        (Slice("totals", "2026-03-23"), Slice("totals", "2026-03-24")): len(SALES[MONDAY]) + len(SALES[TUESDAY]),
        (Slice("running", "2026-03-24"),): len(SALES[MONDAY]) + len(SALES[TUESDAY]) + 1,
        (Slice("sales", "2026-03-24"),): 0,
    }
    assert {slices: inputs.written_rows(slices) for slices in expected} == expected


@pytest.mark.long
@pytest.mark.parametrize(("read", "is_compiled"), [(19_000, False), (20_500, True)])
def test_a_slice_that_reads_much_is_compiled_and_others_are_not(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: int, is_compiled: bool
) -> None:
    warehouse, told = small_warehouse(tmp_path), list[str | None]()

    def noting(parts: Any, *others: Any) -> Any:
        told.append(parts[0][1].sparkSession.conf.get("spark.sql.codegen.wholeStage"))
        return replace_partitions(parts, *others)

    many = spark.range(read).selectExpr("CAST(id AS INT) AS id", "10 AS amount", "'cn' AS region")
    replace_partitions([({"dt": MONDAY}, many)], warehouse.table_path("sales"))
    fill(spark, warehouse, {TUESDAY: SALES[TUESDAY]})
    monkeypatch.setattr(slice_computer, "replace_partitions", noting)
    computing = computer(spark, warehouse)
    for day in ("2026-03-23", "2026-03-24"):
        computing.compute([Slice("totals", day)])
    assert told == ["true" if is_compiled else "false", "false"]
    assert rows(warehouse, "totals", MONDAY) == [("cn", 10 * read)]
