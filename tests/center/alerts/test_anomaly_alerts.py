"""Slices whose rows are unusual: one alert a cause, over when they are measured again, let pass, or followed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.alerts.receiver import receiving
from tests.center.test_center import NOW, CenterWorld
from tests.dependency_model.world import graph
from tidemark.alerts.alert import Alert, AlertKind
from tidemark.alerts.alert_book import AlertBook
from tidemark.center.alerts import AlertWatch
from tidemark.center.alerts.anomaly_troubles import anomaly_troubles
from tidemark.dependency_model.profile.comparison import Anomaly
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.slice_profiles import NOT_PUBLISHED, SliceProfiles, StoredProfile
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = {
    "ext": "{period: day, kind: Virtual, quality: [{row_count: {min: 1}}], notify: [hook]}",
    "dwd": "{period: day, depends_on: [ext], notify: [log]}",
    "other": "{period: day, kind: Virtual}",
}
FEW = Anomaly("rows", "10", "20", 9.0)
SUNDAY, MONDAY = "2024-06-02", "2024-06-03"


class UnusualWorld(CenterWorld):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, **DECLARED)
        self.book, self.profiles = AlertBook(self.store.database), SliceProfiles(self.store.database)

    def measure(self, text: str, *anomalies: Anomaly, version: int = 1, history: History = History.FULL) -> None:
        profile = SliceProfile(10, ())
        stored = StoredProfile(Slice.parse(text), self.now, version, figures_of(profile), history, anomalies)
        self.profiles.put([(stored, profile)])

    def alerts(self, minutes: int = 60, hook: str = "") -> dict[str, tuple[str, ...]]:
        """What is open after so long, to a process that has just begun."""
        self.now += timedelta(minutes=minutes)
        env = {"TIDEMARK_CHANNEL_HOOK": hook} if hook else {}
        watch = AlertWatch(self.center, self.forecast(), Settings.at(self.folder), env, lambda: self.now)
        watch.look()
        watch.close()
        return {alert.cause: alert.slices for alert in self.book.open(AlertKind.ANOMALY)}


@pytest.fixture
def world(tmp_path: Path) -> UnusualWorld:
    return UnusualWorld(tmp_path)


def test_what_is_unusual_downstream_is_of_the_same_cause(world: UnusualWorld) -> None:
    world.measure(f"dwd@{SUNDAY}", FEW)
    world.measure(f"ext@{SUNDAY}", FEW)
    world.measure(f"other@{SUNDAY}", FEW)
    assert world.alerts() == {
        "ext is unusual": (f"ext@{SUNDAY}", f"dwd@{SUNDAY}"),
        "other is unusual": (f"other@{SUNDAY}",),
    }
    (alert, _) = world.book.open()
    told = f"ext is unusual: ext@{SUNDAY} ({FEW}), dwd@{SUNDAY} ({FEW})"
    assert (alert.message, alert.raised_at) == (told, NOW + timedelta(hours=1))
    world.measure(f"ext@{SUNDAY}")
    assert list(world.alerts()) == ["ext is unusual", "other is unusual"], "downstream is still as it was"
    world.measure(f"dwd@{SUNDAY}")
    assert list(world.alerts()) == ["other is unusual"]
    (over,) = world.book.recent(9)
    assert over.slices == (f"ext@{SUNDAY}", f"dwd@{SUNDAY}")


def test_it_is_over_when_a_later_slice_is_as_usual_but_told_before(world: UnusualWorld) -> None:
    world.measure(f"ext@{SUNDAY}", FEW)
    world.now += timedelta(minutes=1)
    world.measure(f"ext@{MONDAY}")
    assert list(world.alerts(minutes=1)) == ["ext is unusual"]
    assert world.alerts(minutes=10) == {}


@pytest.mark.parametrize("later", ["other", "not compared", "not published", "unusual", "earlier", "measured before"])
def test_it_is_not_over_by_any_slice(world: UnusualWorld, later: str) -> None:
    if later == "measured before":
        world.measure(f"ext@{MONDAY}")
        world.now += timedelta(minutes=1)
    world.measure(f"ext@{SUNDAY}", FEW)
    world.now += timedelta(minutes=1)
    if later == "other":
        world.measure(f"other@{MONDAY}")
    elif later == "not compared":
        world.measure(f"ext@{MONDAY}", history=History.NONE)
    elif later == "not published":
        world.measure(f"ext@{MONDAY}", version=NOT_PUBLISHED)
    elif later == "unusual":
        world.measure(f"ext@{MONDAY}", FEW)
    elif later == "earlier":
        world.measure("ext@2024-06-01")
    assert f"ext@{SUNDAY}" in world.alerts()["ext is unusual"]


def test_what_was_refused_or_is_let_pass_is_no_anomaly(world: UnusualWorld) -> None:
    world.measure(f"ext@{SUNDAY}", FEW, version=NOT_PUBLISHED)
    assert world.alerts() == {}
    world.tell(f"ext@{SUNDAY}", "observed")
    world.measure(f"ext@{SUNDAY}", FEW)
    assert list(world.alerts()) == ["ext is unusual"]
    world.tell(f"ext@{SUNDAY}", "quality_failed")
    assert world.alerts() == {}, "the broken rule is an alert by itself"
    assert [alert.cause for alert in world.book.open()] == ["ext breaks a blocking rule"]
    world.tell(f"ext@{SUNDAY}", "quality_ignored")
    assert world.alerts() == {}
    assert world.book.open() == []


def test_slices_of_what_is_no_more_are_left_out(world: UnusualWorld) -> None:
    for text in (f"gone@{SUNDAY}", "ext@2024-W12", "ext@2019-01-01"):
        world.measure(text, FEW)
    assert world.alerts() == {}


def test_a_channel_is_told_of_both_ends(tmp_path: Path) -> None:
    world = UnusualWorld(tmp_path)
    with receiving() as receiver:
        world.measure(f"ext@{SUNDAY}", FEW)
        world.alerts(hook=receiver.url)
        receiver.wait_for(lambda got: len(got) == 1)
        world.measure(f"ext@{SUNDAY}")
        world.alerts(hook=receiver.url)
        got = receiver.wait_for(lambda got: len(got) == 2)
    assert [(message["event"], message["kind"], message["cause"]) for message in got] == [
        ("raised", "anomaly", "ext is unusual"),
        ("recovered", "anomaly", "ext is unusual"),
    ]


def test_the_cause_is_the_most_steps_upstream_also_past_what_is_as_usual() -> None:
    chain = {"b": "a", "c": "b", "d": "c"}
    texts = {name: f"{{period: day, depends_on: [{up}]}}" for name, up in chain.items()}
    world = graph(a="{period: day, kind: Virtual}", **texts)
    told = {Slice(name, SUNDAY): (FEW,) for name in "db"}
    (trouble,) = anomaly_troubles(told, [], world, lambda _: SliceStatus())
    assert (trouble.cause, trouble.slices) == ("b is unusual", (f"b@{SUNDAY}", f"d@{SUNDAY}"))
    open_alert = Alert(1, AlertKind.ANOMALY, "b is unusual", "", (f"d@{SUNDAY}",), NOW)
    told = {Slice(name, SUNDAY): (FEW,) for name in "da"}
    (trouble,) = anomaly_troubles(told, [open_alert], world, lambda _: SliceStatus())
    assert trouble.cause == "a is unusual"
