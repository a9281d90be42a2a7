"""Rules over a slice in one pass, and write-audit-publish against writing first and checking after.

The rules are 20 of those that one scan counts: not_null, accepted_values, range, pattern, expression and
row_count, some of them with `where`. `unique` is in the same scan and has to tell all keys apart, which is work of its
own: it is told beside them. Turns of all ways follow each other in one warm process; ratios are of processor time,
medians, as wall time on a shared machine is others' too.

    rules, rows            how many
    rows_per_second        rows that all rules judge in a second (wall)
    passes_over_data       rows that the tasks of one audit read / rows
    time_vs_one_read       the audit / one read of all columns that does nothing with them
    unique_vs_one_read     the same of `unique` alone
    wap_overhead_ratio     write, audit, publish / write, then read what was written and check it; of --slice-rows
    overhead_ratio_profile the profile / computing, writing and judging a slice of --slice-rows (see `profile`)
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import Mock

from pyspark.sql import functions as sf

from benchmarks.cluster.tasks import rows_read
from benchmarks.profile.spark_overhead import overhead
from benchmarks.timing import Timer
from tidemark.compute.quality_checks import audit
from tidemark.compute.rule_surroundings import Surroundings
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.partition_predicate import partitions_last
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Expression,
    NotNull,
    Pattern,
    QualityRule,
    RowCount,
    Unique,
    WithinRange,
)
from tidemark.dependency_model.slice import Slice
from tidemark.spark.session import spark_session
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

DAY: Final = {"dt": date(2026, 3, 23)}
SLICE: Final = Slice("payments", "2026-03-23")
STATUSES: Final = ("paid", "open", "refunded", "failed")
RULES: Final[Sequence[QualityRule]] = (
    *(NotNull((name,)) for name in ("id", "user_id", "amount", "status", "city", "email", "at")),
    NotNull(("amount", "quantity"), where="status = 'paid'"),
    AcceptedValues("status", STATUSES),
    AcceptedValues("city", tuple(f"city{number}" for number in range(50)), severity="warn"),
    WithinRange("amount", 0, 1000),
    WithinRange("quantity", 1, 9),
    WithinRange("user_id", 0),
    WithinRange("at", "2026-03-23 00:00:00", "2026-03-24 00:00:00"),
    Pattern("email", r"^u\d+@school\.example$"),
    Pattern("city", "^city"),
    Expression("amount * quantity < 10000"),
    Expression("amount > 0", where="status = 'paid'"),
    RowCount(1),
    RowCount(1, where="status = 'paid'"),
)
UNIQUE: Final[Sequence[QualityRule]] = (Unique(("id",)),)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument(
        "--slice-rows", type=int, default=1_000_000, help="rows of a slice that is written and published"
    )
    parser.add_argument("--repeat", type=int, default=5, help="turns that count")
    parser.add_argument("--warm", type=int, default=1, help="turns before them")
    parser.add_argument("--folder", type=Path, help="where tables are made, and kept (default: a passing folder)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        spark = spark_session(Settings.at(Path(folder), spark_memory="4g")).newSession()
        figures = of_rules(spark, Path(folder), arguments.rows, arguments.warm, arguments.repeat)
        figures |= of_publishing(spark, Path(folder), arguments.slice_rows, arguments.warm, arguments.repeat)
        return figures | {"overhead_ratio_profile": overhead(arguments.slice_rows)["overhead_ratio_profile"]}


def payments(spark: SparkSession, rows: int) -> DataFrame:
    """Rows of one day that keep all rules."""
    seconds = int(timedelta(days=1).total_seconds())
    return spark.range(rows).selectExpr(
        "id",
        "CAST(hash(id) & 1048575 AS INT) AS user_id",
        "CAST(1 + pmod(hash(id, 1), 99900) / 100.0 AS DOUBLE) AS amount",
        "CAST(1 + pmod(hash(id, 2), 9) AS INT) AS quantity",
        f"element_at(array{STATUSES}, CAST(1 + pmod(hash(id, 3), 4) AS INT)) AS status",
        "concat('city', pmod(hash(id, 4), 50)) AS city",
        "concat('u', hash(id) & 1048575, '@school.example') AS email",
        f"timestampadd(SECOND, CAST(pmod(hash(id, 5), {seconds}) AS INT), TIMESTAMP'2026-03-23 00:00:00') AS at",
    )


def of_rules(spark: SparkSession, folder: Path, rows: int, warm: int, repeat: int) -> dict[str, Any]:
    """All rules over a table, a read of it, and `unique`, turn by turn."""
    path = folder / f"payments_{rows}"
    with settings(spark, worth_compiling(rows)):
        if not path.exists():
            replace_partition(payments(spark, rows), path, DAY)
        table = partitions_last(read_table(spark, path), DAY)
        timers = {name: Timer(warm) for name in ("read", "rules", "unique")}
        for _ in range(warm + repeat):
            timers["read"].run(lambda: table.write.format("noop").mode("overwrite").save())
            timers["rules"].run(lambda: judge(table, RULES))
            timers["unique"].run(lambda: judge(table, UNIQUE))
        spark.sparkContext.setJobGroup("audit", "one audit")
        judge(table, RULES)
        passes = rows_read(spark, "audit") / rows
    figures = {"rules": len(RULES), "rows": rows, "passes_over_data": round(passes, 2)}
    for name, timer in timers.items():
        figures |= timer.figures(name)
    read = figures["read_cpu_seconds"]
    return {
        **figures,
        "rows_per_second": round(rows / figures["rules_seconds"]),
        "time_vs_one_read": round(figures["rules_cpu_seconds"] / read, 2),
        "unique_vs_one_read": round(figures["unique_cpu_seconds"] / read, 2),
    }


def judge(rows: DataFrame, rules: Sequence[QualityRule]) -> list[bool]:
    """What the engine's audit says of the one slice; all rules hold."""
    told = audit(rules, rows, {(DAY["dt"],): SLICE}, Mock(Surroundings))[SLICE]
    assert all(check.passed for check in told.checks), told
    return [not told.blocks]


def of_publishing(spark: SparkSession, folder: Path, rows: int, warm: int, repeat: int) -> dict[str, Any]:
    """The same slice again and again: published by its rules, and written first and checked after."""
    whole, timers = payments(spark, rows), {name: Timer(warm) for name in ("publish", "write_then_check")}

    def publish() -> None:
        replace_partitions([(DAY, whole)], folder / "published", lambda written: judge(written.rows, RULES))

    def write_then_check() -> None:
        written = replace_partition(whole, folder / "checked", DAY)
        with settings(spark, worth_compiling(rows)):
            stored = read_table(spark, folder / "checked", written.version).where(sf.col("dt") == DAY["dt"])
            judge(partitions_last(stored, DAY), RULES)

    for _ in range(warm + repeat):
        timers["publish"].run(publish)
        timers["write_then_check"].run(write_then_check)
    figures: dict[str, Any] = {"slice_rows": rows}
    for name, timer in timers.items():
        figures |= timer.figures(name)
    ratio = figures["publish_cpu_seconds"] / figures["write_then_check_cpu_seconds"]
    return {**figures, "wap_overhead_ratio": round(ratio, 3)}
