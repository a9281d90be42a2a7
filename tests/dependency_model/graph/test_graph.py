"""Questions to the graph: what a slice needs, what needs it, where things start, and what cannot be asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.dependency_model.world import graph, keys, names
from tidemark.dependency_model.slice import Slice
from tidemark.errors import NoSuchSliceError, ParseError, UnknownEntityError

SHOP = {
    "ods": "{kind: Snapshot, period: day}",
    "clicks": "{period: hour, start: 2024-03-01T05}",
    "countries": "kind: Static",
    "dwd": "{period: day, depends_on: [ods, clicks, countries]}",
    "trend": 'period: day\ndepends_on:\n  - {entity: dwd, offset: "Set 0,-7"}\n  - {entity: trend, offset: Set -1}\n',
    "weekly": "{period: week, depends_on: [dwd]}",
    "growing": "{kind: Cumulative, period: day, granularity: month, depends_on: [{entity: dwd, offset: to_date}]}",
}


def test_the_natural_offset_is_the_default() -> None:
    world = graph(**SHOP)
    assert world.problems() == ()
    needs = keys(world, "dwd@2024-06-01")
    assert needs["ods"] == ["2024-06-01"]
    assert needs["clicks"] == [f"2024-06-01T{hour:02}" for hour in range(24)]
    assert needs["countries"] == ["static"]
    assert [str(edge.dependency.offset) for edge in world.upstream_edges("dwd")] == ["Set 0", "all", "static"]


def test_slices_before_the_start_do_not_exist_and_are_not_awaited() -> None:
    world = graph(**SHOP)
    assert keys(world, "trend@2024-01-03") == {"dwd": ["2024-01-03"], "trend": ["2024-01-02"]}
    assert keys(world, "trend@2024-01-01") == {"dwd": ["2024-01-01"], "trend": []}
    assert keys(world, "dwd@2024-02-29")["clicks"] == []
    assert len(keys(world, "dwd@2024-03-01")["clicks"]) == 19
    assert not world.exists(Slice("dwd", "2023-12-31"))
    assert world.exists(Slice("dwd", "2024-01-01"))


def test_the_first_slice_is_the_one_that_the_start_lies_in() -> None:
    world = graph(weekly="{period: week, start: 2024-01-03}", yearly="{period: year, start: 2024-05-01}")
    assert world.exists(Slice("weekly", "2024-01-01"))
    assert world.exists(Slice("yearly", "2024"))
    assert not world.exists(Slice("yearly", "2023"))


def test_slices_after_the_end_do_not_exist_and_are_not_awaited() -> None:
    old = "{period: day, end: 2024-03-31}"
    world = graph(
        old=old,
        weekly="{period: week, end: 2024-03-31, depends_on: [old]}",
        trend='{period: day, depends_on: [{entity: old, offset: "Range -2..0"}]}',
        last="{period: day, depends_on: [{entity: old, offset: last_available}]}",
    )
    assert keys(world, "trend@2024-04-01") == {"old": ["2024-03-30"]}
    assert keys(world, "trend@2024-05-01") == {"old": []}
    assert keys(world, "last@2024-03-29") == {"old": ["2024-03-29"]}
    assert keys(world, "last@2024-05-01") == {"old": ["2024-03-30"]}
    assert world.exists(Slice("old", "2024-03-30"))
    assert not world.exists(Slice("old", "2024-03-31"))
    assert world.exists(Slice("weekly", "2024-03-18"))
    assert not world.exists(Slice("weekly", "2024-03-25")), "the week is not over at its end"
    assert Slice("weekly", "2024-03-25") not in world.downstream(Slice("old", "2024-03-30"))
    assert [slice_.key for slice_ in world.slices("old", datetime(2025, 1, 1, tzinfo=UTC))][-1] == "2024-03-30"
    assert world.slices_within("old", world.window(Slice("weekly", "2024-03-25"))) == tuple(
        Slice("old", f"2024-03-{day}") for day in range(25, 31)
    )


def test_future_slices_are_awaited() -> None:
    world = graph(plan="period: day", early="{period: day, depends_on: [{entity: plan, offset: Set 1}]}")
    assert keys(world, "early@2024-06-01") == {"plan": ["2024-06-02"]}


def test_to_date_uses_the_granularity_of_the_cumulative_entity() -> None:
    assert keys(graph(**SHOP), "growing@2024-06-03")["dwd"] == ["2024-06-01", "2024-06-02", "2024-06-03"]


def test_downstream_names_every_user_in_order() -> None:
    world = graph(**SHOP)
    assert names(world.downstream(Slice("dwd", "2024-06-29"))) == [
        "growing@2024-06-29",
        "growing@2024-06-30",
        "trend@2024-06-29",
        "trend@2024-07-06",
        "weekly@2024-06-24",
    ]
    assert names(world.downstream(Slice("clicks", "2024-06-29T13"))) == ["dwd@2024-06-29"]


def test_users_without_an_end_are_named_up_to_an_instant() -> None:
    world = graph(**SHOP)
    assert world.downstream(Slice("countries", "static")) == ()
    until = datetime(2024, 1, 3, 12, tzinfo=UTC)
    assert names(world.downstream(Slice("countries", "static"), until)) == [f"dwd@2024-01-0{day}" for day in (1, 2, 3)]


def test_the_newest_available_and_who_would_take_it() -> None:
    world = graph(
        monthly="{kind: Snapshot, period: month}",
        daily="{period: day, depends_on: [{entity: monthly, offset: last_available}]}",
    )
    requirement = world.requirements(Slice("daily", "2024-03-05"))[0]
    assert (names(requirement.slices), requirement.or_older) == (["monthly@2024-02"], True)
    users = names(world.downstream(Slice("monthly", "2024-01")))
    assert (users[0], users[-1], len(users)) == ("daily@2024-01-31", "daily@2024-02-28", 29)
    longer = names(world.downstream(Slice("monthly", "2024-01"), datetime(2024, 4, 1, 12, tzinfo=UTC)))
    assert (longer[0], longer[-1]) == ("daily@2024-01-31", "daily@2024-04-01")


def test_readers_that_accept_an_older_slice_in_its_window() -> None:
    world = graph(
        daily="{period: day}",
        weekly="{period: week, depends_on: [{entity: daily, offset: last_available}]}",
    )
    tuesday, until = Slice("daily", "2024-03-05"), datetime(2024, 3, 20, 12, tzinfo=UTC)
    assert names(world.downstream(tuesday, until)) == ["weekly@2024-03-04", "weekly@2024-03-11", "weekly@2024-03-18"]
    assert world.downstream(tuesday) == ()


def test_slices_up_to_an_instant_have_ended() -> None:
    world = graph(**SHOP)
    until = datetime(2024, 1, 2, 23, tzinfo=UTC)  # midnight in Paris
    assert names(tuple(world.slices("dwd", until))) == ["dwd@2024-01-01", "dwd@2024-01-02"]
    assert names(tuple(world.slices("countries", until))) == ["countries@static"]
    assert str(world.slice_at("clicks", until)) == "clicks@2024-01-03T00"
    assert world.window(Slice("dwd", "2024-01-02")).end == until


@pytest.mark.parametrize(
    ("slice_", "error", "says"),
    [
        (Slice("dwdd", "2024-01-01"), UnknownEntityError, "did you mean 'dwd'"),
        (Slice("dwd", "2024-01"), ParseError, "not a date"),
        (Slice("countries", "2024-01-01"), NoSuchSliceError, "countries@static"),
        (Slice("dwd", "2024-01-01", (("region", "cn"),)), NoSuchSliceError, "no sub-partition with this name"),
        (Slice("clicks", "2024-03-31T02"), NoSuchSliceError, "no such hour slice"),
    ],
)
def test_questions_without_an_answer(slice_: Slice, error: type[Exception], says: str) -> None:
    world = graph(**SHOP)
    for ask in (world.requirements, world.downstream, world.window, world.exists):
        with pytest.raises(error, match=says):
            ask(slice_)


def test_entities_come_in_the_order_of_computation() -> None:
    order = graph(**dict(reversed(SHOP.items()))).topological()
    assert sorted(order) == sorted(SHOP)
    assert order.index("dwd") > max(order.index(name) for name in ("ods", "clicks", "countries"))
    assert order.index("trend") > order.index("dwd")


def test_a_circle_that_leads_back_in_time_is_ordered_by_the_same_day() -> None:
    world = graph(
        opening="{period: day, depends_on: [{entity: closing, offset: Set -1}]}",
        closing="{period: day, depends_on: [opening]}",
    )
    assert world.problems() == ()
    assert world.topological() == ("opening", "closing")


REGIONS = """
period: day
sub_partitions:
  region:
    cn: {time_zone: Asia/Shanghai}
    us: {time_zone: America/Los_Angeles}
"""


def test_a_day_with_parts_is_there_once_all_of_them_are() -> None:
    world = graph(sales=REGIONS, world_sales="{period: day, time_zone: UTC, depends_on: [sales]}")
    both = ["2024-06-01/region=cn", "2024-06-01/region=us"]
    assert keys(world, "world_sales@2024-06-01") == {"sales": both}
    assert keys(world, "sales@2024-06-01") == {"sales": both}
    users = names(world.downstream(Slice.parse("sales@2024-06-01/region=us")))
    assert users == ["sales@2024-06-01", "world_sales@2024-06-01"]


def test_each_part_has_its_own_midnight() -> None:
    world = graph(sales=REGIONS)
    ends = [world.window(Slice.parse(f"sales@2024-06-01/region={region}")).end for region in ("cn", "us")]
    assert ends == [datetime(2024, 6, 1, 16, tzinfo=UTC), datetime(2024, 6, 2, 7, tzinfo=UTC)]


def test_parts_follow_the_same_part_or_the_ones_chosen() -> None:
    world = graph(
        sales=REGIONS,
        rates="period: day",
        profit=REGIONS + "depends_on: [sales, rates]",
        china="{period: day, depends_on: [{entity: sales, sub: {region: [cn]}}]}",
    )
    assert world.problems() == ()
    assert keys(world, "profit@2024-06-01/region=us") == {"sales": ["2024-06-01/region=us"], "rates": ["2024-06-01"]}
    assert keys(world, "china@2024-06-01") == {"sales": ["2024-06-01/region=cn"]}
    users = names(world.downstream(Slice.parse("sales@2024-06-01/region=us")))
    assert users == ["profit@2024-06-01/region=us", "sales@2024-06-01"]
    assert names(world.downstream(Slice("rates", "2024-06-01"))) == [
        "profit@2024-06-01/region=cn",
        "profit@2024-06-01/region=us",
    ]


def test_an_hour_of_a_region_belongs_to_the_regions_batch_date() -> None:
    world = graph(
        logs=REGIONS.replace("period: day", "period: hour"), daily="{period: day, time_zone: UTC, depends_on: [logs]}"
    )
    assert world.problems() == ()
    needed = keys(world, "daily@2024-06-01")["logs"]
    assert needed[0] == "2024-06-01T00/region=cn"
    assert needed[-1] == "2024-06-01T23/region=us"
    assert len(needed) == 48
