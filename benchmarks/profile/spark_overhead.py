"""What the profile of a slice costs beside computing, writing and judging it: of its files, and scanned by Spark."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlparse

from benchmarks.timing import Timer
from tidemark.compute.quality_checks import audit
from tidemark.compute.rule_surroundings import Surroundings
from tidemark.delta.replace_partition import replace_partition
from tidemark.dependency_model.entity.profile_settings import ProfileSettings
from tidemark.dependency_model.entity.quality_rules import AcceptedValues, NotNull, RowCount
from tidemark.dependency_model.profile.profile_codec import encode_profile
from tidemark.dependency_model.slice import Slice
from tidemark.spark.session import spark_session
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.compute.quality_checks import Audit

_ROWS: Final = (
    "id",
    "CAST(rand(1) * 1e5 AS DECIMAL(12, 2)) AS amount",
    "concat('city_', CAST(rand(2) * rand(3) * 200 AS INT)) AS city",
    "IF(rand(4) < 0.02, NULL, rand(5) * 100) AS score",
    "timestamp_seconds(1700000000 + CAST(rand(6) * 86400 AS INT)) AS at",
    "CAST(rand(7) * 1000000 AS INT) AS user_id",
    "concat('o-', id, '-', CAST(rand(8) * 1e9 AS INT)) AS code",
    "rand(9) < 0.3 AS paid",
)
_QUERY: Final = """
SELECT o.*, u.orders_of_user FROM orders AS o JOIN
(SELECT user_id, count(*) AS orders_of_user FROM orders GROUP BY user_id) AS u ON u.user_id = o.user_id
"""
_RULES: Final = (
    NotNull(("id", "amount")),
    RowCount(1),
    AcceptedValues("paid", (True, False)),
)
_SLICE: Final = Slice("orders", "2026-03-29")
_WARM, _TURNS = 2, 3


def overhead(rows: int) -> dict[str, Any]:
    """Medians of processor time over turns, the first ones left out; in each the slice is judged without and with."""
    with TemporaryDirectory() as folder:
        spark = spark_session(Settings.at(Path(folder) / "data"))
        made = spark.range(0, rows, 1, 2).selectExpr(*_ROWS)
        made.write.parquet(f"{folder}/orders")
        spark.read.parquet(f"{folder}/orders").createOrReplaceTempView("orders")
        with settings(spark, worth_compiling(rows)):  # as a slice that reads so many rows is computed and judged
            return _measure(spark, Path(folder) / "table")


def _measure(spark: SparkSession, path: Path) -> dict[str, Any]:
    computing, judging, profiling = Timer(_WARM), Timer(_WARM), Timer(_WARM)
    scanning = Timer(_WARM)
    for _ in range(_WARM + _TURNS):
        written = computing.run(lambda: replace_partition(spark.sql(_QUERY), path, {"dt": _SLICE.key}))
        files = [Path(unquote(urlparse(uri).path)) for uri in written.rows.inputFiles()]
        judging.run(partial(_audit, written.rows, None, None))
        told = profiling.run(partial(_audit, written.rows, ProfileSettings(), {_SLICE: files}))
        scanned = scanning.run(partial(_audit, written.rows, ProfileSettings(), None))
    assert told.profile is not None
    assert scanned.profile is not None
    assert told.profile.rows == scanned.profile.rows
    slice_cpu, rules_cpu, both_cpu, scanned_cpu = (
        statistics.median(timer.cpu[_WARM:]) for timer in (computing, judging, profiling, scanning)
    )
    return {
        "profiled_rows": told.profile.rows,
        "profiled_columns": len(told.profile.columns),
        "profile_bytes": len(encode_profile(told.profile)),
        "compute_cpu_seconds": round(slice_cpu, 2),
        "rules_cpu_seconds": round(rules_cpu, 2),
        "rules_and_profile_cpu_seconds": round(both_cpu, 2),
        "overhead_ratio_profile": round((both_cpu - rules_cpu) / (slice_cpu + rules_cpu), 3),
        "overhead_ratio_scanned_profile": round((scanned_cpu - rules_cpu) / (slice_cpu + rules_cpu), 3),
    }


def _audit(rows: DataFrame, profiled: ProfileSettings | None, files: Mapping[Slice, Sequence[Path]] | None) -> Audit:
    nothing: Any = None  # these rules look at the rows alone
    around = Surroundings(nothing, nothing, nothing, nothing)
    return audit(_RULES, rows, {(_SLICE.key,): _SLICE}, around, profiled, files=files)[_SLICE]
