"""What one record may cost: little processor time whatever is in it, and no depth of its JSON stops a pass."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import psutil
import pytest

from tests.capture.operations.test_hostile_records import (
    ONE_MESSAGE,
    ONE_RECORD,
    PLACE,
    anything,
    before_and_after,
    step,
    value_of,
    with_change,
)
from tests.capture.schema.hostile import paths, put
from tests.capture.source.kafka.letters import flat
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, USERS, Stream, at, order
from tidemark.capture.errors import TooManySlicesError
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COPIES: Final = 4
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


def processor_time_of_pass(spark: SparkSession, folder: Path, records: list[str], messages: list[str]) -> float:
    begun = seconds_of_processor()
    before_and_after(spark, folder, records, messages)
    return seconds_of_processor() - begun


@pytest.mark.long
def test_each_hostile_record_takes_less_than_a_second(spark: SparkSession, tmp_path: Path) -> None:
    """Four of each kind, less than four seconds in all: so no kind takes a second a record. One once took 218."""
    poor = with_change(("after", "amount"), "x")
    usual = processor_time_of_pass(
        spark, tmp_path / "usual", [poor] * len(COSTLY) * COPIES, [flat("INSERT", 7, "x")] * COPIES
    )
    hostile = processor_time_of_pass(spark, tmp_path / "hostile", COSTLY * COPIES, ONE_MESSAGE * COPIES)
    assert hostile - usual < COPIES, (hostile, usual)


def with_nesting(value: dict[str, Any], depths: Iterable[int]) -> Iterator[str]:
    """The value with a list or an object so deep in each of its fields in turn, and as the whole of it."""
    # What declares a column of Canal's stops its table; that is tested by itself.
    places = [path for path in paths(value) if not {*PLACE, "mysqlType"}.intersection(path)]
    for number, depth in enumerate(depths):
        for field, place in enumerate(places):
            if (number + field) % _STRIDE == 0:
                left, right = (("[", "]"), ('{"a":', "}"))[(number + field) // _STRIDE % 2]
                text = json.dumps(put(value, place, _HERE))
                yield text.replace(json.dumps(_HERE), f"{left * depth}1{right * depth}")


_STRIDE: Final = 11
"""Every depth stands in several fields, and every field holds each eleventh depth: all of both would be gigabytes."""


@pytest.mark.long
def test_no_depth_and_nothing_in_any_field_of_a_record_stops_a_pass(spark: SparkSession, tmp_path: Path) -> None:
    depths = (1, 2, 15, 16, 17, 60, 200, 499, 500, 501, 512, 900, *range(990, 1_005), 1_500, 2_000)
    canal = with_nesting(json.loads(flat("UPDATE", 7, "1.00", "2.00")), depths)
    values, messages = anything(seed=1, count=150)
    before_and_after(spark, tmp_path, [*with_nesting(value_of(None), depths), *values], [*canal, *messages])


@pytest.mark.long
def test_no_depth_up_to_two_thousand_stops_a_pass(spark: SparkSession, tmp_path: Path) -> None:
    canal = [*with_nesting(json.loads(flat("UPDATE", 7, "1.00", "2.00")), range(1, 2_001))]
    before_and_after(spark, tmp_path, [*with_nesting(value_of(None), range(1, 2_001))], canal)


LAST_TIME: Final = datetime.fromtimestamp(2**32 - 1, UTC)
"""The last time that a binlog can have: in 2106."""


@pytest.mark.long
def test_an_event_of_another_century_stops_its_own_table_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Of five minutes there are millions of slices up to there; the days, some thirty thousand, are tagged."""
    a = Stream("a")
    for table, columns in (("users", USERS), ("orders_0", ORDERS)):
        a.declare(table, columns, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 1, "name": "n"}, at("2026-03-23 10:00"))
    a.change("orders_0", None, order(1, "1.00", 23), at("2026-03-23 10:00"))
    a.change("users", None, {"user_id": 2, "name": "n"}, LAST_TIME)
    days, fine = (("days", "day", "2026-03-23"),), (("fine", "5min", "2026-03-23T00:00"),)
    tables = [
        SourceTable("ods_users", "school.users", ("a",), ("user_id",), None, days),
        SourceTable("ods_orders", "school.orders_*", ("a",), ("order_id",), None, fine),
    ]
    begun = seconds_of_processor()
    errors, rows = step(spark, tmp_path, {"a": values_of(a)}, (), tables)
    assert seconds_of_processor() - begun < 120
    assert [type(error) for error in errors] == [TooManySlicesError]
    assert "ods_orders" in str(errors[0])
    assert rows == {"ods_users": 2}
    tagged = SnapshotRegistry.at(Settings.at(tmp_path / "data").state_db).of("days", "day")
    assert len(tagged) == 29_175
    assert {snapshot.version for snapshot in tagged} == {tagged[0].version}
