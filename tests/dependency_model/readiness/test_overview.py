"""Late, failed and waiting slices follow from declarations, statuses and the time alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tidemark.dependency_model.entity import Dependency, Entity
from tidemark.dependency_model.entity.entity import CapturedSource, EntityState
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.readiness.overview import (
    EntityOverview,
    SlicesInMemory,
    missing_inputs,
    overview,
    root_cause,
)
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus
from tidemark.dependency_model.time.period import Period

NOW = datetime(2026, 3, 26, 9, tzinfo=UTC)
THERE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)


def daily(name: str, *upstream: str, ready_by: str | None = None, is_captured: bool = False) -> Entity:
    depends_on = tuple(Dependency(name, Offset.of_counts([0])) for name in upstream)
    return Entity(
        name=name,
        period=Period.parse("day"),
        start="2026-03-23",
        states=(EntityState("completed", depends_on),),
        ready_by=ready_by,
        source=CapturedSource("school.orders_*", ("a",)) if is_captured else None,
        key=("id",) if is_captured else (),
        layer=name.partition("_")[0],
        owner="data@school.example",
    )


GRAPH = DependencyGraph.build(
    [
        daily("ods_orders", is_captured=True),
        daily("dwd_orders", "ods_orders"),
        daily("ads_gmv", "dwd_orders", ready_by="08:00"),
    ]
)
STATUSES = {
    Slice("ods_orders", "2026-03-23"): THERE,
    Slice("dwd_orders", "2026-03-23"): THERE,
    Slice("ads_gmv", "2026-03-23"): SliceStatus(RunState.FAILED),
    Slice("ods_orders", "2026-03-24"): THERE,
    Slice("dwd_orders", "2026-03-24"): SliceStatus(RunState.RUNNING),
}


def overview_of() -> dict[str, EntityOverview]:
    return {entry.entity: entry for entry in overview(GRAPH, STATUSES, NOW)}


def keys(slices: list[Slice]) -> list[str]:
    return [slice_.key for slice_ in slices]


def test_each_due_slice_is_returned_once() -> None:
    ods, dwd, ads = overview_of()["ods_orders"], overview_of()["dwd_orders"], overview_of()["ads_gmv"]
    assert (ods.completed, keys(ods.waiting)) == (2, ["2026-03-25"])
    assert (dwd.completed, keys(dwd.under_way), keys(dwd.waiting)) == (1, ["2026-03-24"], ["2026-03-25"])
    assert (keys(ads.failed), keys(ads.waiting)) == (["2026-03-23"], ["2026-03-24", "2026-03-25"])
    assert ods.newest == Slice("ods_orders", "2026-03-24")
    assert list(overview_of()) == ["ods_orders", "dwd_orders", "ads_gmv"]


def test_only_missing_promised_slices_are_late() -> None:
    assert keys(overview_of()["ads_gmv"].late) == ["2026-03-23", "2026-03-24", "2026-03-25"]
    assert not overview_of()["dwd_orders"].late
    early = {entry.entity: entry for entry in overview(GRAPH, STATUSES, NOW.replace(hour=7))}
    assert keys(early["ads_gmv"].late) == ["2026-03-23", "2026-03-24"]


def test_a_waiting_slice_is_followed_to_where_it_begins() -> None:
    known = SlicesInMemory(GRAPH, STATUSES)
    assert root_cause(GRAPH, Slice("ads_gmv", "2026-03-25"), known, NOW) == Slice("ods_orders", "2026-03-25")
    assert root_cause(GRAPH, Slice("ads_gmv", "2026-03-24"), known, NOW) == Slice("dwd_orders", "2026-03-24")
    assert missing_inputs(GRAPH, Slice("ads_gmv", "2026-03-23"), known, NOW) == ()


def test_a_slice_held_by_a_flag_is_followed_to_the_broken_rule() -> None:
    hour = Slice("foo_1h", "2026-03-25T15")
    flagged = {Slice("ods_orders", "2026-03-24"): replace(THERE, issues=frozenset({hour}))}
    assert root_cause(GRAPH, Slice("ads_gmv", "2026-03-24"), SlicesInMemory(GRAPH, flagged), NOW) == hour


def test_the_newest_known_slice_is_one_that_is_accepted() -> None:
    known = SlicesInMemory(GRAPH, STATUSES)
    asked = Slice("ods_orders", "2026-03-31")
    assert known.newest(asked, lambda status: status.valid) == Slice("ods_orders", "2026-03-24")
    assert known.newest(Slice("ods_orders", "2026-03-23"), lambda status: status.valid) == Slice(
        "ods_orders", "2026-03-23"
    )
    assert known.newest(asked, lambda _: False) is None
