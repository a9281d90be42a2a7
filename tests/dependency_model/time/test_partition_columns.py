"""Declared partition columns: what may be declared, and what they show of a slice."""

from __future__ import annotations

from datetime import date

import pytest

from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.partition_columns import parse_partition_columns, partition_columns, time_columns
from tidemark.errors import EntityErrors, ParseError

DAY = date(2026, 3, 9)


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("date", DAY),
        ("yyyyMMdd", "20260309"),
        ("yyyy-MM-dd", "2026-03-09"),
        ("int yyyyMMdd", 20260309),
        ("yyyyMM", "202603"),
        ("int MM", 3),
        ("HH", "02+01:00"),
        ("yyyyMMddHH", "2026030902+01:00"),
        ("yyyy_MM.dd HH:mm", "2026_03.09 02:15+01:00"),
    ],
)
def test_printed_forms(form: str, shown: object) -> None:
    (column,) = parse_partition_columns({"p": form})
    assert column.value(DAY, "02+01:00", "15") == shown
    assert column.declared == form


def test_a_day_has_no_hour() -> None:
    (column,) = parse_partition_columns({"p": "yyyyMMddHHmm"})
    assert column.value(DAY) == "202603090000"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("ds", "ddMMyyyy"),
        ("ds", "yyyydd"),
        ("ds", "yyyyyy"),
        ("ds", "int yyyy-MM-dd"),
        ("ds", "int yyyyMMddHH"),
        ("ds", "timestamp"),
        ("ds", "-"),
        ("ds", ""),
        ("DS", "yyyyMMdd"),
        ("d s", "date"),
    ],
)
def test_refused_forms(name: str, form: str) -> None:
    with pytest.raises(ParseError):
        parse_partition_columns({name: form})


def test_a_period_uses_the_columns_of_its_units() -> None:
    declared = parse_partition_columns({"ds": "yyyyMMdd", "hh": "HH", "mi": "mm"})
    names = {period: [column.name for column in time_columns(period, declared)] for period in Period}
    assert names[Period.MONTH] == names[Period.DAY] == ["ds"]
    assert names[Period.HOUR] == ["ds", "hh"]
    assert names[Period.FIVE_MINUTES] == ["ds", "hh", "mi"]
    assert partition_columns(Period.HOUR) == ("dt", "hour")
    assert time_columns(None, declared) == ()


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("period: hour\npartition_columns: {ds: yyyyMMdd}", "do not distinguish each hour"),
        ("period: day\npartition_columns: {pm: yyyyMM}", "do not distinguish each day"),
        ("period: day\npartition_columns: ds", "expected columns and their forms"),
        ("period: day\npartition_columns: {ds: ddMM}", "does not grow with time"),
        ("period: hour\ntime_zone: Europe/Paris\npartition_columns: {ds: date, hh: int HH}", "hh is a number"),
        ("period: 5min\ntime_zone: Europe/Paris\npartition_columns: {pt: yyyyMMddHHmm}", "repeats an hour"),
        (
            "period: day\nsub_partitions: {ds: [a]}\npartition_columns: {ds: date}",
            "both a sub-partition and a column of time",
        ),
    ],
)
def test_a_declaration_that_does_not_tell_slices_is_refused_at_its_line(yaml: str, message: str) -> None:
    with pytest.raises(EntityErrors) as raised:
        parse_entity(yaml, "t")
    (problem,) = raised.value.problems
    assert message in str(problem)
    assert (problem.where or "").startswith("t.yaml:")


@pytest.mark.parametrize(
    "yaml",
    [
        "period: hour\ntime_zone: UTC\npartition_columns: {ds: int yyyyMMdd, hh: int HH}",
        "period: month\npartition_columns: {y: yyyy, m: MM}",
        "period: 5min\ntime_zone: UTC\npartition_columns: {pt: yyyyMMddHHmm}",
        "period: hour\ntime_zone: Europe/Paris\npartition_columns: {pt: yyyyMMddHH}",
    ],
)
def test_a_declaration_that_tells_them(yaml: str) -> None:
    assert parse_entity(yaml, "t").times
