"""The center on a store: facts in, durable decisions out - once, in one commit, and the same after a restart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import entity, graph
from tidemark.center.baseline import CenterForecast
from tidemark.center.center import DependencyCenter
from tidemark.center.fact import Fact
from tidemark.center.pools import Pools
from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState
from tidemark.errors import ParseError, TransitionError
from tidemark.state_store.database import Database
from tidemark.state_store.errors import StateConflictError
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.graph import DependencyGraph

SINCE = datetime(2024, 6, 1, tzinfo=UTC)
NOW = datetime(2024, 6, 3, 12, tzinfo=UTC)
TWO_DAYS = ("2024-06-01", "2024-06-02")


class CenterWorld:
    """A store, a clock that is set by hand, and the center on them."""

    def __init__(self, folder: Path, **texts: str) -> None:
        self.folder, self.now = folder, NOW
        self.graph: DependencyGraph = graph(**texts)
        self.store = StateStore(Database.at(folder / "state.db"))
        self.center = self.open_center()

    def open_center(self) -> DependencyCenter:
        return DependencyCenter(self.graph, self.store, since=SINCE, clock=lambda: self.now)

    def forecast(self) -> CenterForecast:
        return CenterForecast(self.center, Pools({"default": 2}), lambda: self.now)

    def tell(self, text: str, event: str, event_id: str = "", **more: object) -> int:
        """Report one fact; how much of it was new. `run=` names the run."""
        run = more.pop("run", None)
        data = Facts(run_id=str(run)) if run else Facts()
        fact = Fact(event_id or f"{text} {event} {run}", Slice.parse(text), Event(event), NOW, "test", data=data)
        return self.center.report([replace(fact, **more)], strict=True).new  # type: ignore[arg-type]

    def ready(self) -> list[str]:
        return [str(slice_) for slice_ in self.center.ready()]

    def events(self, text: str) -> str:
        return " ".join(transition.event.value for transition in self.store.read.history(Slice.parse(text)))

    def run(self, text: str, run: str) -> None:
        assert self.center.launch([Slice.parse(text)], run, "default") == [Slice.parse(text)]
        self.tell(text, "completed", run=run)


CHAIN = {"ods": "{period: day, kind: Virtual}", "dwd": "{period: day, depends_on: [ods]}"}


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    return CenterWorld(tmp_path, **CHAIN, ads="{period: day, depends_on: [dwd]}")


def test_a_fact_releases_what_waited_for_it_in_the_same_commit(world: CenterWorld) -> None:
    assert world.tell("ods@2024-06-02", "observed") == 1
    assert world.ready() == ["dwd@2024-06-02"]
    assert [(transition.event, str(transition.slice)) for transition in world.store.read.after(0)] == [
        (Event.OBSERVED, "ods@2024-06-02"),
        (Event.QUALITY_PASSED, "ods@2024-06-02"),
        (Event.RELEASED, "dwd@2024-06-02"),
    ]
    assert world.open_center().ready() == world.center.ready()


def test_what_is_reported_again_changes_nothing(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    last = world.store.read.last()
    assert world.tell("ods@2024-06-02", "observed") == 0
    assert world.tell("ods@2024-06-02", "observed", event_id="somebody else's") == 0
    assert world.store.read.last() == last


def test_the_end_of_a_run_under_an_id_that_was_used_before_is_known(world: CenterWorld) -> None:
    """The store is not asked for the ids of such ends beforehand: it refuses them, and others told with them go on."""
    world.tell("ods@2024-06-02", "observed", event_id="x")
    world.tell("ods@2024-06-01", "observed")
    days = [Slice("dwd", day) for day in TWO_DAYS]
    assert world.center.launch(days, "r1", "default") == days
    last = world.store.read.last()
    ends = [
        Fact(event_id, day, Event.COMPLETED, NOW, "test", data=Facts(run_id="r1"))
        for event_id, day in zip(("new", "x"), days, strict=True)
    ]
    receipt = world.center.report(ends)
    assert (receipt.new, receipt.known) == (1, 1)
    assert world.events("dwd@2024-06-01") == "released launched started completed quality_passed"
    assert world.events("dwd@2024-06-02") == "released launched"
    assert world.store.read.after(last)[-1].seq == world.store.read.last()
    assert list(world.center.under_way()) == [days[1]]
    assert world.center.report(ends).known == 2


def test_a_launch_is_once_and_says_what_it_reads(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    day = Slice("dwd", "2024-06-02")
    assert world.center.launch([day], "r1", "etl") == [day]
    assert world.center.launch([day], "r2", "etl") == []
    (launch,) = world.store.read.launches([day]).values()
    manifest = launch.facts.manifest
    assert manifest is not None
    assert (launch.facts.run_id, launch.facts.cluster, manifest.state, manifest.is_partial) == (
        "r1",
        "etl",
        "completed",
        False,
    )
    assert manifest.used_slices == {"ods": (UsedSlice(Slice("ods", "2024-06-02"), 1),)}
    assert world.open_center().under_way() == {day: ("r1", "etl")}
    world.tell("dwd@2024-06-02", "completed", run="r1")
    assert world.events("dwd@2024-06-02") == "released launched started completed quality_passed"
    assert world.ready() == ["ads@2024-06-02"]


def test_time_alone_releases(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, alone="period: hour", late='{period: day, earliest: "0 18 * * *"}')
    world.now = SINCE + timedelta(hours=3)
    assert world.center.tick() == 3
    assert world.center.tick() == 0
    world.now = SINCE + timedelta(days=1, hours=19)
    assert world.open_center().tick() == 41  # forty more hours, and the first of June at six in the evening of the 2nd
    assert str(world.center.memory.index.next_time) == "2024-06-01 04:00:00+00:00"


def test_a_failed_check_withdraws_what_was_released_and_taints_what_was_computed(world: CenterWorld) -> None:
    for day in TWO_DAYS:
        world.tell(f"ods@{day}", "observed")
    world.run("dwd@2024-06-01", "r1")
    assert world.ready() == ["dwd@2024-06-02", "ads@2024-06-01"]
    for day in TWO_DAYS:
        world.tell(f"ods@{day}", "quality_failed")
    assert world.ready() == []
    assert world.events("dwd@2024-06-02") == "released withdrawn"
    assert world.center.status(Slice("dwd", "2024-06-01")).tainted
    assert world.tell("ods@2024-06-02", "quality_ignored") == 1
    assert world.ready() == ["dwd@2024-06-02"]


def test_a_backfill_goes_down_the_chain(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    world.run("dwd@2024-06-02", "r1")
    world.run("ads@2024-06-02", "r2")
    world.tell("dwd@2024-06-02", "backfill_requested")
    assert world.ready() == ["dwd@2024-06-02"]
    world.run("dwd@2024-06-02", "r3")
    assert world.ready() == ["ads@2024-06-02"]
    assert world.center.status(Slice("ads", "2024-06-02")).generation == 2


def test_a_run_that_read_what_was_replaced_meanwhile_is_repeated(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    world.run("dwd@2024-06-02", "r1")
    ads = Slice("ads", "2024-06-02")
    world.center.launch([ads], "r2", "default")
    world.tell("dwd@2024-06-02", "completed", run="by hand in the UI")
    assert world.center.status(ads).run_state is RunState.LAUNCHED
    world.center._forget()
    world.tell("ads@2024-06-02", "completed", run="r2")
    assert world.events("ads@2024-06-02").endswith("started completed quality_passed backfill_requested released")
    world.run("ads@2024-06-02", "r3")
    assert world.ready() == []


def test_a_run_whose_input_was_found_wrong_meanwhile_ends_tainted(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    world.center.launch([Slice("dwd", "2024-06-02")], "r1", "default")
    world.tell("ods@2024-06-02", "quality_failed")
    world.tell("dwd@2024-06-02", "completed", run="r1")
    assert world.center.status(Slice("dwd", "2024-06-02")).tainted
    assert world.ready() == []


def test_markers_complete_themselves(tmp_path: Path) -> None:
    world = CenterWorld(
        tmp_path,
        canvas="{kind: Project, period: day}",
        member="{period: day, project: canvas}",
        report="{period: day, depends_on: [canvas]}",
    )
    world.center.tick()
    assert world.ready() == ["member@2024-06-01", "member@2024-06-02"]
    world.run("member@2024-06-02", "r1")
    assert world.events("canvas@2024-06-02") == "observed quality_passed"
    assert world.ready() == ["member@2024-06-01", "report@2024-06-02"]


def test_rules_have_to_pass_first(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, ods="{period: day, kind: Virtual, quality: [{not_null: [id]}]}", dwd=CHAIN["dwd"])
    world.tell("ods@2024-06-02", "observed")
    assert (world.ready(), world.center.status(Slice("ods", "2024-06-02")).quality) == ([], Quality.UNKNOWN)
    world.tell("ods@2024-06-02", "quality_passed")
    assert world.ready() == ["dwd@2024-06-02"]


def test_what_is_no_entity_is_not_stored(world: CenterWorld) -> None:
    facts = [Fact("1", Slice("tmp_join", "2024-06-02"), Event.OBSERVED, NOW, "test")]
    receipt = world.center.report(facts)
    assert (receipt.unexposed, receipt.new, world.store.read.last()) == (1, 0, 0)


@pytest.mark.parametrize(
    ("text", "event", "error"),
    [
        ("ods@2024-06-31", "observed", ParseError),
        ("ods@2024-06-02/region=cn", "observed", ParseError),
        ("ods@2024-06-02", "quality_failed", TransitionError),
        ("dwd@2024-06-02", "kept", TransitionError),
    ],
)
def test_a_strict_report_is_all_or_nothing(world: CenterWorld, text: str, event: str, error: type[Exception]) -> None:
    good = Fact("good", Slice("ods", "2024-06-01"), Event.OBSERVED, NOW, "test")
    bad = Fact("bad", Slice.parse(text), Event(event), NOW, "test")
    with pytest.raises(error):
        world.center.report([good, bad], strict=True, cursors={"log": "7"})
    assert (world.store.read.last(), world.ready(), world.store.read.cursor("log")) == (0, [], None)
    assert world.tell("ods@2024-06-01", "observed", event_id="good") == 1


def test_a_fact_told_twice_in_one_report_is_one(world: CenterWorld) -> None:
    fact = Fact("1", Slice("ods", "2024-06-01"), Event.OBSERVED, NOW, "test")
    receipt = world.center.report([fact, fact])
    assert (receipt.new, receipt.known) == (1, 1)


def test_what_is_refused_is_told_and_the_rest_is_taken(world: CenterWorld) -> None:
    facts = [
        Fact("1", Slice("ods", "2024-06-31"), Event.OBSERVED, NOW, "test"),
        Fact("2", Slice("ods", "2024-06-01"), Event.OBSERVED, NOW, "test"),
    ]
    receipt = world.center.report(facts, cursors={"log": "7"})
    assert [(fact.event_id, receipt.new) for fact, _ in receipt.refused] == [("1", 1)]
    assert world.store.read.cursor("log") == "7"


def test_a_report_of_an_earlier_generation_is_late(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    world.run("dwd@2024-06-02", "r1")
    world.tell("dwd@2024-06-02", "backfill_requested")
    assert world.tell("dwd@2024-06-02", "completed", run="r0", generation=1) == 0


def test_reports_at_the_same_time_share_commits_and_none_is_lost(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    hours = [Slice("ods", f"2024-05-{day:02}") for day in range(1, 32)] + [Slice("ods", day) for day in TWO_DAYS]

    def tell(slice_: Slice) -> int:
        return world.center.report([Fact(str(slice_), slice_, Event.OBSERVED, NOW, "test")]).new

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(tell, hours * 2)) == len(hours)
    assert world.ready() == [f"dwd@{day}" for day in TWO_DAYS]


def test_a_second_center_is_told_and_reads_on(world: CenterWorld) -> None:
    other = world.open_center()
    assert other.ready() == []
    world.tell("ods@2024-06-02", "observed")
    fact = Fact("other", Slice("ods", "2024-06-01"), Event.OBSERVED, NOW, "test")
    with pytest.raises(StateConflictError, match=r"expected transition 0 .* found transition 3, written by center"):
        other.report([fact])
    assert other.report([fact]).new == 1
    assert [str(slice_) for slice_ in other.ready()] == ["dwd@2024-06-02", "dwd@2024-06-01"]


def test_entities_come_and_change_while_it_runs(world: CenterWorld) -> None:
    world.tell("ods@2024-06-02", "observed")
    world.graph.put(entity("more", "{period: day, depends_on: [ods]}"))
    world.center.refresh(["more"])
    assert world.ready() == ["dwd@2024-06-02", "more@2024-06-02"]
    world.graph.put(entity("dwd", "{period: day, depends_on: [ods, more]}"))
    world.center.refresh(["dwd", "more", "ads"])
    assert world.ready() == ["more@2024-06-02"]
