"""Seed 000's table of offsets, row by row."""

from __future__ import annotations

import pytest

from tests.dependency_model.world import graph, keys


@pytest.mark.parametrize(
    ("downstream", "key", "upstream", "offset", "needed"),
    [
        ("day", "2024-01-05", "day", "Set, 0", ["2024-01-05"]),
        ("day", "2024-01-05", "day", "Set, -1", ["2024-01-04"]),
        ("day", "2024-01-05", "hour", "Range, 0-23", [f"2024-01-05T{hour:02}" for hour in range(24)]),
        ("week", "2024-01-08", "day", "Set, 0,1,2,3,4,5,6", [f"2024-01-{day:02}" for day in range(8, 15)]),
        ("week", "2024-01-08", "day", "Range, 0-6", [f"2024-01-{day:02}" for day in range(8, 15)]),
    ],
)
def test_row(downstream: str, key: str, upstream: str, offset: str, needed: list[str]) -> None:
    world = graph(
        up=f"period: {upstream}",
        down=f"""
        period: {downstream}
        depends_on:
          - {{entity: up, offset: "{offset}"}}
        """,
    )
    assert world.problems() == ()
    assert keys(world, f"down@{key}") == {"up": needed}


def test_the_two_ways_to_write_a_week_are_one_value() -> None:
    world = graph(
        up="period: day",
        listed='{period: week, depends_on: [{entity: up, offset: "Set 0,1,2,3,4,5,6"}]}',
        ranged="{period: week, depends_on: [{entity: up, offset: Range 0-6}]}",
    )
    listed, ranged = world.entity("listed").depends_on[0], world.entity("ranged").depends_on[0]
    assert listed == ranged


@pytest.mark.parametrize(
    ("downstream", "key", "upstream", "offset", "needed"),
    [
        ("day", "2026-03-29", "hour", "Range 0-23", 23),
        ("day", "2026-10-25", "hour", "Range 0-23", 25),
        ("day", "2026-03-29", "5min", "Range 0-287", 276),
        ("week", "2026-03-23", "hour", "Range 0-167", 167),
        ("month", "2026-02", "day", "all", 28),
        ("month", "2026-03", "hour", "all", 743),
        ("month", "2024-02", "day", "all", 29),
        ("year", "2024", "day", "all", 366),
        ("quarter", "2026-Q1", "month", "all", 3),
    ],
)
def test_a_whole_window_is_whole(downstream: str, key: str, upstream: str, offset: str, needed: int) -> None:
    world = graph(
        up=f"period: {upstream}", down=f"{{period: {downstream}, depends_on: [{{entity: up, offset: {offset}}}]}}"
    )
    assert len(keys(world, f"down@{key}")["up"]) == needed


@pytest.mark.parametrize(
    ("downstream", "key", "upstream", "offset", "needed"),
    [
        ("day", "2026-03-29", "hour", "Set 24", ["2026-03-30T00"]),
        ("day", "2026-03-29", "hour", "Set -1", ["2026-03-28T23"]),
        ("day", "2026-03-30", "hour", "Set -24", ["2026-03-28T23"]),
        ("hour", "2026-03-29T03", "hour", "Set -1", ["2026-03-29T01"]),
        ("hour", "2026-10-25T02+01:00", "hour", "Set -1", ["2026-10-25T02"]),
        ("month", "2026-02", "day", "Set 28", ["2026-03-01"]),
        ("day", "2026-03-31", "month", "Set 0,-1", ["2026-02", "2026-03"]),
        ("hour", "2026-03-29T03", "day", "Set 0", ["2026-03-29"]),
        ("week", "2026-03-30", "month", "Set 0", ["2026-03"]),
        ("week", "2026-03-30", "month", "all", ["2026-03", "2026-04"]),
        ("day", "2026-03-04", "day", "to_date week", ["2026-03-02", "2026-03-03", "2026-03-04"]),
        ("day", "2026-03-02", "hour", "all month", 743),
        ("day", "2026-03-31", "month", "last_available", ["2026-03"]),
        ("day", "2026-03-30", "month", "last_available", ["2026-02"]),
        ("week", "2026-03-23", "month", "last_available", ["2026-02"]),
    ],
)
def test_other_pairs(downstream: str, key: str, upstream: str, offset: str, needed: list[str] | int) -> None:
    world = graph(
        up=f"period: {upstream}",
        down=f"period: {downstream}\ndepends_on:\n  - {{entity: up, offset: '{offset}'}}\n",
    )
    result = keys(world, f"down@{key}")["up"]
    assert (len(result) if isinstance(needed, int) else result) == needed
