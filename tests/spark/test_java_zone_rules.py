"""Java's file of time zones is read as Java reads it, and differences from the slices' rules are found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tidemark.dependency_model.time.zone import Zone, zone_names
from tidemark.spark.internals import Jvm
from tidemark.spark.java import java_command
from tidemark.spark.java_zone_rules import differences, java_zone_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOME = ["Europe/Paris", "Africa/Casablanca", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo"]
FIRST, LAST, STEP = 0, 2_500_000_000, 19 * 86_400 + 4_321


@pytest.mark.spark
@pytest.mark.parametrize(
    "zones",
    [
        pytest.param(SOME, id="some"),
        pytest.param(sorted(zone_names()), id="all", marks=pytest.mark.long),
    ],
)
def test_the_file_agrees_with_java(spark: SparkSession, zones: list[str]) -> None:
    """Where both are the same Java's offsets are ours; in a stretch that differs they are not."""
    jvm = Jvm(spark)
    known = {str(name) for name in jvm("java.time.ZoneId").getAvailableZoneIds()}
    for name in [name for name in zones if name in known]:
        rules, ours = jvm("java.time.ZoneId").of(name).getRules(), Zone.load(name)
        stretches = differences(name, java_command())
        at = [*range(FIRST, LAST, STEP), *(instant for stretch in stretches[:4] for instant in stretch)]
        for instant in at:
            offset = rules.getOffset(jvm("java.time.Instant").ofEpochSecond(instant)).getTotalSeconds()
            differs = any(first <= instant < after for first, after in stretches)
            assert (offset != ours.offset_at(instant)) == differs, (name, datetime.fromtimestamp(instant, UTC))


def test_the_same_zone_differs_from_itself_nowhere_and_from_another_one_somewhere() -> None:
    java = java_zone_rules(java_command())
    assert java is not None
    assert {"Europe/Paris", "Asia/Tokyo", "America/New_York"} <= {*java.rules}
    assert [name for name in ("Europe/Paris", "Asia/Tokyo", "America/New_York") if differences(name, "java")] == []
    assert java_zone_rules("/no/such/java") is None
    assert differences("Europe/Paris", "/no/such/java") == ()
