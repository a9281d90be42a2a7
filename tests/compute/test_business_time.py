from datetime import UTC, date, datetime

import pytest
from pyspark.sql import SparkSession

from tidemark.compute.business_time import partition_values, sql_parameters
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE


def test_the_repeated_hour_is_a_partition_of_its_own() -> None:
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
def test_a_session_tells_dates_of_instants_by_the_clock_that_the_analysis_knows(spark: SparkSession) -> None:
    entity = parse_entity("{period: day, time_zone: Europe/Paris, start: 2026-03-01}", "e")
    parameters = sql_parameters(DependencyGraph.build([entity]), Slice("e", "2026-03-29"))
    of_utc, of_paris = "to_date(:period_start)", "to_date(from_utc_timestamp(:period_start, 'Europe/Paris'))"
    row = spark.sql(f"SELECT {of_utc} AS utc, {of_paris} AS paris", args=parameters).collect()[0]
    assert spark.conf.get("spark.sql.session.timeZone") == SPARK_TIME_ZONE
    assert (row.utc, row.paris) == (date(2026, 3, 28), date(2026, 3, 29))
