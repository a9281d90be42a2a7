"""Rules of a captured version judged by its changed partitions: the same verdicts and figures as by the whole table.

The oracle is the same rules over the whole version, in DuckDB's words over delta-rs's rows, not the engine's.
"""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import duckdb
import pytest
from deltalake import DeltaTable

from benchmarks.cluster.tasks import rows_read
from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_restated_snapshot import END_MS, OWN, computer
from tests.lake_folder import lake_folder
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.compute.changed_rows import can_be_narrowed
from tidemark.compute.runtime import Runtime
from tidemark.delta.added_partitions import PartitionTexts, added_partitions, table_state
from tidemark.dependency_model.entity.rule_text import rule_text
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.rule_results import RuleResults, StoredRuleResult
from tidemark.state_store.snapshot_registry import TaggedSnapshot
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.compute.check_result import CheckResult

pytestmark = pytest.mark.spark

RULES: Final = """
quality:
  - {not_null: [user]}
  - {range: {column: amount, min: 0}}
  - {unique: [_shard, id]}
  - {unique: {columns: [user], where: "amount > 90"}}
  - {expression: {holds: "amount < 100 OR user IS NULL", severity: warn}}
  - {row_count: {min: 1, max: 1000}}
"""
CAPTURED: Final = """
kind: Snapshot
period: day
source: {table: school.sales, instances: [a]}
key: [id]
partition_by: day
late_events: restate
"""
COLUMNS: Final = "_shard STRING, id INT, user STRING, amount INT, day DATE"
EXPECTED: Final = {
    "not_null": "SELECT count(*) FROM t WHERE user IS NULL",
    "range": "SELECT count(*) FROM t WHERE amount < 0",
    "unique": "SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT _shard, id FROM t)) FROM t",
    "unique_2": (
        "SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT user FROM t WHERE amount > 90)) FROM t"
        " WHERE amount > 90"
    ),
    "expression": "SELECT count(*) FROM t WHERE NOT (amount < 100 OR user IS NULL)",
    "row_count": "SELECT count(*) FROM t",
}
FIRST: Final = 23
ROWS: Final = 14_000
"""So many that the records of Delta's own log, which Spark counts as well, are few."""
NOW: Final = datetime(2026, 3, 24, tzinfo=UTC)


class Versions:
    """A captured table whose every version ends a day, and the slices of them."""

    def __init__(self, spark: SparkSession, folder: Path, rules: str = RULES) -> None:
        self.spark = spark
        self.runtime = Runtime(small_warehouse(folder, {"sales": (CAPTURED + rules, "")}))
        self.path = self.runtime.warehouse.table_path("sales")
        self.columns, self.count = COLUMNS, 0

    def write(self, rows: list[tuple[Any, ...]], days: set[date | None] | None = None) -> Slice:
        """A version in which these partitions (all, in the first) have these rows; the slice that it ends."""
        frame = self.spark.createDataFrame(rows, self.columns).coalesce(1)
        writer = frame.write.format("delta").mode("overwrite").partitionBy("day")
        if days is not None:
            texts = [f"day <=> {'NULL' if day is None else f'DATE{str(day)!r}'}" for day in sorted(days, key=str)]
            writer = writer.option("replaceWhere", " OR ".join(texts))
        writer.save(str(self.path))
        slice_ = Slice("sales", f"2026-03-{FIRST + self.count}")
        table = DeltaTable(str(self.path))
        snapshot = TaggedSnapshot("sales", "day", slice_.key, table.version(), 0, NOW)
        self.runtime.registry.candidates.propose([snapshot])
        self.count += 1
        return slice_

    def judge(self, slice_: Slice) -> tuple[dict[str, CheckResult], int]:
        """What a new process says, and how many rows its tasks read."""
        group = f"judging {slice_} {uuid4()}"  # the session, and the jobs that it remembers, are those of all tests
        computing = computer(self.spark, self.runtime)
        self.spark.sparkContext.setJobGroup(group, group)
        (told,) = computing.snapshots([slice_])
        return {check.name: check for check in told.audit.checks}, rows_read(self.spark, group)

    def expected(self) -> dict[str, int]:
        rows = DeltaTable(str(self.path)).to_pyarrow_table()
        with duckdb.connect() as connection:
            connection.register("t", rows)
            return {name: connection.sql(query).fetchall()[0][0] for name, query in EXPECTED.items()}


def day_of(number: int) -> date | None:
    return None if number % 7 == 6 else date(2026, 3, 1 + number % 7)


def as_rows(held: dict[int, tuple[str | None, int]], days: set[date | None] | None = None) -> list[tuple[Any, ...]]:
    return [
        ("a.s", key % 1000, user, amount, day_of(key))
        for key, (user, amount) in held.items()
        if days is None or day_of(key) in days
    ]


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3, 10])
def test_figures_are_those_of_the_whole_table(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Faults come and go; a key (mod 1000) may stand in two partitions, a NULL partition among them.

    A base that was wrong, a partition forgotten, or keys compared within changed partitions alone would break it.
    """
    dice, world = random.Random(seed), Versions(spark, tmp_path)
    held: dict[int, tuple[str | None, int]] = {key: (f"u{key}", key % 90) for key in range(60)}
    kinds = set()
    for number in range(5):
        touched: set[date | None] = set()
        for _ in range(0 if number == 0 else dice.randrange(4)):
            key = dice.choice([dice.randrange(60), 1000 + dice.randrange(60)])
            fault = dice.choice([None, None, (None, 5), ("u1", -5), ("u2", 95), ("u3", 150)])
            held.pop(key, None) if dice.random() < 0.3 else held.update({key: fault or (f"u{key}", 7)})
            touched.add(day_of(key))
        if dice.random() < 0.5:  # the source corrects everything
            bad = {
                key for key, (user, amount) in held.items() if user is None or amount < 0 or amount > 89 or key > 999
            }
            touched |= {day_of(key) for key in bad}
            held = {key: value for key, value in held.items() if key not in bad}
        changed = touched if number and touched else None
        slice_ = world.write(as_rows(held, changed), changed)
        checks, _ = world.judge(slice_)
        expected = world.expected()
        measured = {name: (check.figures or {name: 0})[name] for name, check in checks.items()}
        assert measured == expected, slice_
        assert {name for name, check in checks.items() if not check.passed} == {
            name for name, count in expected.items() if count and name != "row_count"
        }
        is_tagged = world.runtime.registry.get("sales", "day", slice_.key) is not None
        assert is_tagged is not any(
            count for name, count in expected.items() if name not in ("row_count", "expression")
        )
        kinds.add(is_tagged)
    assert kinds == {True, False}, "the seed has to make both kinds"


def test_only_partitions_that_changed_are_read(spark: SparkSession, tmp_path: Path) -> None:
    world = Versions(spark, tmp_path, "quality: [{not_null: [user]}, {row_count: {min: 1}}]\n")
    held: dict[int, tuple[str | None, int]] = {key: (f"u{key}", 1) for key in range(ROWS)}
    _, whole = world.judge(world.write(as_rows(held)))
    assert whole >= ROWS
    held[0] = ("u0", 2)
    checks, read = world.judge(world.write(as_rows(held, {day_of(0)}), {day_of(0)}))
    assert (ROWS // 7 <= read < ROWS // 3, checks["row_count"].figures) == (True, {"row_count": ROWS}), read
    again = Slice("sales", "2026-03-24")
    assert world.judge(again)[1] < ROWS // 7, "what held at this very version need not be looked at"


@pytest.mark.parametrize(
    "rules",
    [
        "quality: [{not_null: [user]}]\nprofile: {columns: [amount]}\n",
        'quality: [{expression: {holds: "amount < 100 * rand()"}}]\n',
        'quality: [{expression: {holds: "day <= current_date()"}}]\n',
        'quality: [{expression: {holds: "day <= dt"}}]\n',
        "quality: [{not_null: [dt]}]\n",
        'quality: [{query: {no_rows: "SELECT * FROM slice_rows WHERE amount < 0"}}]\n',
        'quality: [{row_count: {min: 1, where: "amount > 0"}}]\n',
    ],
)
def test_rules_that_depend_on_time_or_the_whole_table_are_not_narrowed(tmp_path: Path, rules: str) -> None:
    warehouse = small_warehouse(tmp_path, {"sales": (CAPTURED + rules, "")})
    assert not can_be_narrowed(warehouse.entities["sales"])


@pytest.mark.long
def test_another_schema_and_another_rule_have_all_of_it_read(spark: SparkSession, tmp_path: Path) -> None:
    world = Versions(spark, tmp_path, "quality: [{not_null: [user]}]\n")
    held: dict[int, tuple[str | None, int]] = {key: (f"u{key}", 1) for key in range(ROWS)}
    world.judge(world.write(as_rows(held)))
    spark.sql(f"ALTER TABLE delta.`{world.path}` ADD COLUMN (note STRING)")
    world.columns += ", note STRING"
    slice_ = world.write([(*row, "x") for row in as_rows(held, {day_of(0)})], {day_of(0)})
    assert world.judge(slice_)[1] >= ROWS
    assert world.judge(slice_)[1] < ROWS // 7
    settings = world.runtime.warehouse.settings
    (declared,) = (tmp_path / "declared").rglob("sales.yaml")
    declared.write_text(f"{CAPTURED}quality: [{{not_null: [user]}}, {{range: {{column: amount, min: 0}}}}]\n")
    world.runtime = Runtime(load_warehouse(settings, tmp_path / "declared"))
    assert world.judge(slice_)[1] >= ROWS


@pytest.mark.long
def test_another_clock_has_all_of_it_read(spark: SparkSession, tmp_path: Path) -> None:
    """What older versions said, by UTC's clock, is kept without a zone."""
    world = Versions(spark, tmp_path, "quality: [{range: {column: day, max: '2026-03-30'}}]\n")
    held: dict[int, tuple[str | None, int]] = {key: (f"u{key}", 1) for key in range(ROWS)}
    slice_ = world.write(as_rows(held))
    results, state = RuleResults(world.runtime.database), table_state(world.path, 0)
    (rule,) = world.runtime.warehouse.entities["sales"].quality
    kept = StoredRuleResult(slice_, "range", NOW, "block", "passed", rule_text(rule), "", {}, ROWS, 0, 0, state)
    results.put([kept])
    assert world.judge(slice_)[1] >= ROWS
    assert world.judge(slice_)[1] < ROWS // 7
    assert results.held_at("sales", f"{state} Europe/Paris", 0)
    assert not results.held_at("sales", f"{state} Asia/Shanghai", 0)


def test_a_log_that_is_gone_tells_no_partitions(spark: SparkSession, tmp_path: Path) -> None:
    world = Versions(spark, tmp_path)
    world.write(as_rows({1: ("u", 1)}))
    world.write(as_rows({1: ("u", 2), 6: ("v", 2)}))
    assert added_partitions(world.path, 0, 1) == frozenset[PartitionTexts](((("day", "2026-03-02"),), (("day", None),)))
    lake_folder(world.path / "_delta_log" / f"{1:020}.json").unlink()
    assert added_partitions(world.path, 0, 1) is None


@pytest.mark.long
def test_late_changes_on_top_have_all_of_it_read(spark: SparkSession, tmp_path: Path) -> None:
    """They are no rows of the version: what held there says nothing of them."""
    world = Versions(spark, tmp_path, "quality: [{not_null: [user]}]\n")
    slice_ = world.write(as_rows({key: (f"u{key}", 1) for key in range(70)}))
    world.judge(slice_)
    late = [("a.s", 5, None, 5, day_of(5), "u", 20, 0, 5, END_MS - 1, END_MS)]
    kept = late_path(world.runtime.warehouse.settings.warehouse, "sales")
    spark.createDataFrame(late, f"{COLUMNS}, {OWN}").write.format("delta").save(str(kept))
    world.runtime.registry.restate([("sales", "day", slice_.key)], 9, audited={"sales"})
    checks, _ = world.judge(slice_)
    assert checks["not_null"].figures == {"not_null": 1}
    tagged = world.runtime.registry.get("sales", "day", slice_.key)
    assert tagged is not None
    assert not tagged.is_restated
