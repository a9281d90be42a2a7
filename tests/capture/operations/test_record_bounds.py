"""What one record may cost: little processor time whatever is in it, and no depth of its JSON stops a pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import psutil
import pytest

from tests.capture.operations.test_hostile_records import (
    ONE_MESSAGE,
    ONE_RECORD,
    PLACE,
    before_and_after,
    value_of,
    with_change,
)
from tests.capture.schema.hostile import paths, put
from tests.capture.source.kafka.letters import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COPIES: Final = 8
COSTLY: Final = [
    *ONE_RECORD,
    with_change(("after", "amount"), "9" * 1_000_000),
    with_change(("after", "amount"), "1e+1000000000"),
    with_change(("source", "ts_ms"), 2**32 * 1000),
]
_HERE: Final = "@here@"


def seconds_of_processor() -> float:
    """Of this process and of its JVM, all threads; what other processes do does not count."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(times.user + times.system for times in (process.cpu_times() for process in family))


def spent(spark: SparkSession, folder: Path, records: list[str], messages: list[str]) -> float:
    begun = seconds_of_processor()
    before_and_after(spark, folder, records, messages)
    return seconds_of_processor() - begun


def test_each_hostile_record_takes_less_than_a_second(spark: SparkSession, tmp_path: Path) -> None:
    """Eight of each kind, less than eight seconds in all: so no kind takes a second a record. One once took 218."""
    poor = with_change(("after", "amount"), "x")
    usual = spent(spark, tmp_path / "usual", [poor] * len(COSTLY) * COPIES, [flat("INSERT", 7, "x")] * COPIES)
    hostile = spent(spark, tmp_path / "hostile", COSTLY * COPIES, ONE_MESSAGE * COPIES)
    assert hostile - usual < COPIES, (hostile, usual)


def nested(value: dict[str, Any], depths: Iterable[int]) -> Iterator[str]:
    """The value with a list or an object so deep in each of its fields in turn, and as the whole of it."""
    # What declares a column of Canal's stops its table; that is tested by itself.
    places = [path for path in paths(value) if not {*PLACE, "mysqlType"}.intersection(path)]
    for number, depth in enumerate(depths):
        for at in range(len(places)):
            if (number + at) % _STRIDE == 0:
                left, right = (("[", "]"), ('{"a":', "}"))[(number + at) // _STRIDE % 2]
                text = json.dumps(put(value, places[at], _HERE))
                yield text.replace(json.dumps(_HERE), f"{left * depth}1{right * depth}")


_STRIDE: Final = 11
"""Every depth stands in several fields, and every field holds each eleventh depth: all of both would be gigabytes."""


def test_no_depth_of_a_record_stops_a_pass(spark: SparkSession, tmp_path: Path) -> None:
    depths = (1, 2, 15, 16, 17, 60, 200, 499, 500, 501, 512, 900, *range(990, 1_005), 1_500, 2_000)
    canal = [*nested(json.loads(flat("UPDATE", 7, "1.00", "2.00")), depths)]
    before_and_after(spark, tmp_path, [*nested(value_of(None), depths)], canal)


@pytest.mark.long
def test_no_depth_up_to_two_thousand_stops_a_pass(spark: SparkSession, tmp_path: Path) -> None:
    canal = [*nested(json.loads(flat("UPDATE", 7, "1.00", "2.00")), range(1, 2_001))]
    before_and_after(spark, tmp_path, [*nested(value_of(None), range(1, 2_001))], canal)
