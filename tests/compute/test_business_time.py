from datetime import UTC, date, datetime

import pytest
from pyspark.sql import SparkSession

from tidemark.compute.business_time import partition_values, sql_parameters
from tidemark.compute.slice_clock import clock_of
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE, spark_zone
from tidemark.spark.temporary_settings import settings


def test_the_repeated_hour_is_a_separate_partition() -> None:
    first = partition_values("hour", "2026-10-25T02")
    second = partition_values("hour", "2026-10-25T02+01:00")
    assert first == {"dt": date(2026, 10, 25), "hour": "02"}
    assert second == {"dt": date(2026, 10, 25), "hour": "02+01:00"}
    assert "02" < str(second["hour"]) < "03"


def test_longer_periods_are_written_to_the_day_they_start_on() -> None:
    assert partition_values("month", "2026-03") == {"dt": date(2026, 3, 1)}
    assert partition_values("week", "2026-03-23") == {"dt": date(2026, 3, 23)}
    assert partition_values("quarter", "2026-Q2") == {"dt": date(2026, 4, 1)}


def test_values_and_columns_agree() -> None:
    for period, key in [
        ("day", "2026-03-29"),
        ("hour", "2026-03-29T03"),
        ("10min", "2026-03-29T03:10"),
        ("year", "2026"),
    ]:
        assert tuple(partition_values(period, key)) == partition_columns(Period.parse(period))


def test_parameters_are_business_time_in_the_entitys_zone() -> None:
    entity = parse_entity("{period: hour, time_zone: Europe/Paris, start: 2026-03-01T00}", "e")
    parameters = sql_parameters(DependencyGraph.build([entity]), Slice("e", "2026-03-29T03"))
    assert parameters == {
        "biz_date": date(2026, 3, 29),
        "biz_hour": "03",
        "period_start": datetime(2026, 3, 29, 1, tzinfo=UTC),
        "period_end": datetime(2026, 3, 29, 2, tzinfo=UTC),
    }


@pytest.mark.spark
def test_a_session_on_an_entitys_clock_tells_its_days(spark: SparkSession) -> None:
    graph = DependencyGraph.build([parse_entity("{period: day, time_zone: Europe/Paris, start: 2026-03-01}", "e")])
    slice_, session = Slice("e", "2026-03-29"), spark.newSession()
    query = "SELECT to_date(:period_start) AS start, to_date(:period_end) AS end"
    with settings(session, clock_of(graph, slice_)):
        row = session.sql(query, args=sql_parameters(graph, slice_)).collect()[0]
    assert (row.start, row.end) == (date(2026, 3, 29), date(2026, 3, 30))
    assert session.conf.get("spark.sql.session.timeZone") == SPARK_TIME_ZONE


@pytest.mark.parametrize(("zone", "of_spark"), [("UTC+8", "+08:00"), ("UTC-3:30", "-03:30"), ("UTC", "UTC")])
def test_a_zone_of_an_offset_is_spelled_as_java_reads_it(zone: str, of_spark: str) -> None:
    assert spark_zone(zone) == of_spark
