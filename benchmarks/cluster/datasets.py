"""What is clustered: seven distributions of two keys, beside columns that only have to be carried along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BASE_FILES = 24
_PREFIX = "https://school.example.org/courses/2026/lessons/"


@dataclass(frozen=True)
class Dataset:
    """SQL of the two keys; {0} to {3} are seeds."""

    name: str
    keys: tuple[str, str]

    def rows(self, spark: SparkSession, count: int, seed: int) -> DataFrame:
        """`count` rows in `BASE_FILES` partitions: key1, key2, and four columns more."""
        seeds = [seed + number for number in range(8)]
        keys = [f"{key.format(*seeds)} AS key{number}" for number, key in enumerate(self.keys, 1)]
        rest = [
            "id",
            f"rand({seeds[5]}) * 1000 AS amount",
            f"CAST(rand({seeds[6]}) * 100 AS INT) AS kind",
            f"hex(CAST(rand({seeds[7]}) * 1e12 AS BIGINT)) AS note",
        ]
        return spark.range(0, count, 1, BASE_FILES).selectExpr(*keys, *rest)


def _uniform(seed: str) -> str:
    return f"CAST(rand({seed}) * 1e9 AS INT)"


def _hot(seed: str, which: str, share: float, value: int) -> str:
    return f"IF(rand({which}) < {share}, {value}, {_uniform(seed)})"


def _zipf(seed: str) -> str:
    """Ranks with P(rank >= k) = k^-1/2, scattered over the domain."""
    return f"CAST(CAST(least(pow(1 - rand({seed}), -2), 1e6) AS BIGINT) * 48271 % 1000003 AS INT)"


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset("uniform", (_uniform("{0}"), _uniform("{1}"))),
        Dataset("one_value", (_hot("{0}", "{2}", 0.9, 500_000_000), _uniform("{1}"))),
        Dataset("two_hot", (_hot("{0}", "{2}", 0.8, 500_000_000), _hot("{1}", "{3}", 0.8, 7))),
        Dataset("zipf", (_zipf("{0}"), _zipf("{1}"))),
        # The same seed twice is the same number: the second key follows the first within 2 %.
        Dataset("correlated", (_uniform("{0}"), f"{_uniform('{0}')} + CAST(rand({{1}}) * 2e7 AS INT)")),
        Dataset(
            "strings_nulls",
            (
                f"IF(rand({{2}}) < 0.15, NULL, concat('{_PREFIX}', lpad(hex(CAST(rand({{0}}) * 1e9 AS INT)), 8, '0')))",
                f"IF(rand({{3}}) < 0.1, NULL, {_uniform('{1}')})",
            ),
        ),
        Dataset("time_ordered", ("timestamp_seconds(1767225600 + id)", _uniform("{1}"))),
    )
}
