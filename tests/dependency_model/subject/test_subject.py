"""Subjects: projects, jobs and tables at dates, ranges and partitions - to slices and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dependency_model.world import graph, names
from tidemark.dependency_model.graph.node import Node
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.subject import Allowance, DependencySubject, Instance, SubjectKind, resolve, slices_of
from tidemark.errors import ParseError, TidemarkError

WORLD = graph(
    dwd_order="{period: day, sub_partitions: {region: [cn, us], unit: [a, b]}}",
    daily="{period: day, task_id: 1234}",
    hourly="period: hour",
    fives="period: 5min",
    weekly="period: week",
    monthly="period: month",
    countries="kind: Static",
    shop="{kind: Project, period: day}",
)


@pytest.mark.parametrize(
    ("text", "slices"),
    [
        ("taskId=1234&&bizDate=20240101", ["daily@2024-01-01"]),
        ("taskId=daily&&bizDate=2024-01-01", ["daily@2024-01-01"]),
        ("job=daily&&bizDate=20240103,20240101", ["daily@2024-01-01", "daily@2024-01-03"]),
        ("job=daily&&bizDate=20240101..20240103", [f"daily@2024-01-0{day}" for day in (1, 2, 3)]),
        ("project=shop&&bizDate=20240101", ["shop@2024-01-01"]),
        ("job=weekly&&bizDate=20240103", ["weekly@2024-01-01"]),
        ("job=monthly&&bizDate=202402", ["monthly@2024-02"]),
        ("job=monthly&&bizDate=2024-Q1", [f"monthly@2024-0{month}" for month in (1, 2, 3)]),
        ("table=hourly&&dt=20240101&&hour=03", ["hourly@2024-01-01T03"]),
        (
            "table=hourly&&dt=20240101..20240102&&hour=22..23",
            [f"hourly@2024-01-0{d}T{h}" for d in (1, 2) for h in (22, 23)],
        ),
        ("table=hourly&&dt=2024010103", ["hourly@2024-01-01T03"]),
        ("table=fives&&dt=202401010305", ["fives@2024-01-01T03:05"]),
        ("table=dwd_order&&dt=20240101&&region=cn&&unit=a", ["dwd_order@2024-01-01/region=cn/unit=a"]),
        ("table=dwd_order&&dt=20240101&&region=cn", [f"dwd_order@2024-01-01/region=cn/unit={unit}" for unit in "ab"]),
        ("table=countries", ["countries@static"]),
        ("table=daily&&dt=20231231", []),
    ],
)
def test_a_subject_stands_for_slices(text: str, slices: list[str]) -> None:
    assert names(resolve(DependencySubject.parse(text), WORLD)) == slices
    assert names(slices_of(text, WORLD)) == slices


def test_slices_are_filtered_by_their_instance() -> None:
    text = "job=daily&&bizDate=20240101..20240102&&instance="
    manual = {Slice("daily", "2024-01-02")}

    def instance_of(slice_: Slice) -> Instance:
        return Instance.MANUAL if slice_ in manual else Instance.SCHEDULED

    assert names(slices_of(f"{text}manual", WORLD, instance_of=instance_of)) == ["daily@2024-01-02"]
    assert names(slices_of(f"{text}scheduled", WORLD, instance_of=instance_of)) == ["daily@2024-01-01"]
    with pytest.raises(ParseError, match="only filters existing slices"):
        slices_of(f"{text}manual", WORLD)


def test_a_task_is_one_entity() -> None:
    twice = graph(daily="{period: day, task_id: a-1}", weekly="{period: week, task_id: a-1}", other="period: day")
    (problem,) = twice.problems()
    assert "task_id: another entity has it" in str(problem)
    assert "daily is this task" in str(problem)
    with pytest.raises(TidemarkError, match="unknown entity"):
        resolve(DependencySubject.parse("job=1234&&bizDate=20240101"), WORLD)


def test_a_date_of_an_hourly_job_is_all_its_hours() -> None:
    spring = resolve(DependencySubject.parse("job=hourly&&bizDate=20240331"), WORLD)
    assert len(spring) == 23


def test_an_hours_partition_of_an_autumn_night_is_both_hours() -> None:
    autumn = resolve(DependencySubject.parse("table=hourly&&dt=20241027&&hour=02"), WORLD)
    assert names(autumn) == ["hourly@2024-10-27T02", "hourly@2024-10-27T02+01:00"]
    assert resolve(DependencySubject.parse("table=hourly&&dt=20240331&&hour=02"), WORLD) == ()
    written_out = "table=hourly&&dt=2024-10-27T02+01:00"
    assert names(resolve(DependencySubject.parse(written_out), WORLD)) == ["hourly@2024-10-27T02+01:00"]


@given(
    st.sampled_from(["daily", "hourly", "fives", "weekly", "monthly", "dwd_order"]),
    st.integers(0, 60 * 24 * 366),
    st.sampled_from(SubjectKind),
)
def test_a_slice_becomes_a_subject_and_comes_back(entity: str, minute: int, kind: SubjectKind) -> None:
    instant = datetime(2024, 1, 2, tzinfo=UTC) + timedelta(minutes=minute)
    sub = (("region", "us"), ("unit", "b")) if entity == "dwd_order" else ()
    slice_ = WORLD.slice_at(entity, instant, sub)
    subject = DependencySubject.of_slice(slice_, kind)
    assert DependencySubject.parse(str(subject.id)) == subject
    assert resolve(subject, WORLD) == (slice_,)


def test_the_instance_is_part_of_the_identity() -> None:
    manual = DependencySubject.parse("job=daily&&bizDate=20240101&&instance=manual")
    scheduled = DependencySubject.parse("job=daily&&bizDate=20240101")
    assert (manual.instance, scheduled.instance) == (Instance.MANUAL, None)
    assert manual != scheduled
    assert "instance=manual" in str(manual.id)
    assert DependencySubject.of_slice(Slice("daily", "2024-01-01")) == DependencySubject.parse(
        "job=daily&&bizDate=2024-01-01"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bizDate=20240101", "exactly one of project, taskId, job and table"),
        ("job=a&&table=b&&dt=20240101", "exactly one"),
        ("job=a,b&&bizDate=20240101", "one name"),
        ("job=daily&&bizDate=20240101&&dt=20240101", "mean the same"),
        ("job=daily&&bizDate=20240101&&instance=manul", "did you mean 'manual'"),
        ("job=daily", "without a date"),
        ("job=daily&&bizDate=2024013", "not a date"),
        ("job=daily&&bizDate=20240230", "this date does not exist"),
        ("job=daily&&bizDate=20240107..20240101", "range of dates is empty"),
        ("job=dailly&&bizDate=20240101", "did you mean 'daily'"),
        ("table=hourly&&dt=20240101&&hour=24", "not an hour"),
        ("table=hourly&&dt=20240101&&hour=5..3", "not a range of hours"),
        ("table=dwd_order&&dt=20240101&&region=cnn", "did you mean 'cn'"),
        ("table=daily&&dt=20240101&&region=cn", "no condition 'region'"),
    ],
)
def test_subjects_without_slices_have_a_reason(text: str, says: str) -> None:
    with pytest.raises(TidemarkError) as raised:
        resolve(DependencySubject.parse(text), WORLD)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("table=daily&&dt=19700101..21991231", "too many slices"),
        ("table=hourly&&dt=2024", "too many slices"),
        ("table=daily&&dt=19700101..21991231&&hour=00..23", "too many dates"),
        ("table=daily&&dt=20240601..20240715&&hour=00..23", "too many dates"),
        ("table=daily&&dt=" + ",".join(str(20_000_000 + number) for number in range(1_001)), "too many dates"),
    ],
)
def test_too_much_is_refused_before_it_is_expanded(text: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Node, "slice", lambda *_: pytest.fail("a slice was made"))
    with pytest.raises(ParseError, match=says):
        resolve(DependencySubject.parse(text), WORLD)


def test_all_subjects_of_a_request_share_its_allowance() -> None:
    allowance = Allowance()
    assert len(slices_of("table=daily&&dt=20240101..20240131", WORLD, allowance)) == 31
    assert len(slices_of("daily@2024-02-01", WORLD, allowance)) == 1
    assert (allowance.slices, allowance.dates) == (1_000 - 32, 1_000 - 2)
    with pytest.raises(ParseError, match="969, and 968 are left"):
        slices_of("table=daily&&dt=20240101..20260826", WORLD, allowance)
