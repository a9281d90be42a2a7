"""Any event in Dagster's log: it is refused alone and shown, the events after it are taken in, also after a restart."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.center.test_center import CenterWorld
from tests.seeds import chunks
from tidemark.alerts.alert_book import AlertBook
from tidemark.center.alerts.alert_watch import refused_troubles
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.detectors.told_event import CODE_KEY, MISSING_KEY, ROWS_KEY, STATE_KEY, VERSION_KEY, told_slice
from tidemark.center.errors import RequestError
from tidemark.errors import ParseError
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TEXTS = {
    "hours": "{period: hour, kind: Virtual}",
    "months": "{period: month, kind: Virtual}",
    "quarters": "{period: quarter, kind: Virtual}",
    "weeks": "{period: week, kind: Virtual}",
    "parts": "{period: day, kind: Virtual, sub_partitions: {region: [cn, eu]}}",
    "ods": "{period: day, kind: Virtual}",
    "dwd": "{period: day, depends_on: [ods]}",
}
OWN_SPELLING = "2024-06-01T03"
KEYS = {
    "hours": (
        OWN_SPELLING,
        "x",
        "",
        "2024-06-01-03:30",
        "2024-06-01-25:00",
        "2024-06-01",
        "9999-99-99-99:99",
        "\ud800",
    ),
    "parts": ("2024-06-01", "2024-06-01|", "|", "2024-06-01|xx", "cn|2024-06-01", "2024-06-01|cn|eu", "a" * 5_000),
    "months": ("2024-06-15", "2024-06", "2024-13-01", "0000-00-01", "2024-06-01\0"),
    "quarters": ("2024-05-01", "2024-xx-01", "2024"),
    "weeks": ("2024-06-05x", "2024-02-30"),
    "ods": ("2024-06-31", "2024-6-1", "\uff13", "2024-06-02 ", "99999-01-01", "static"),
}
METADATA: tuple[Mapping[str, Any], ...] = (
    {ROWS_KEY: 2**70},
    {ROWS_KEY: -(2**64)},
    {VERSION_KEY: 2**63},
    {MISSING_KEY: "\ud800"},
    {CODE_KEY: "\0"},
    {STATE_KEY: "x" * 10_000},
    {MISSING_KEY: dg.MetadataValue.json({"a": [1]})},
)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


def report(
    instance: dg.DagsterInstance, asset: str, key: str | None, metadata: Mapping[str, Any] | None = None
) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=key, metadata=metadata or {}))


@pytest.mark.parametrize(("entity", "key"), [(entity, key) for entity, keys in KEYS.items() for key in keys])
def test_a_key_of_no_slice_is_refused(tmp_path: Path, entity: str, key: str) -> None:
    graph = CenterWorld(tmp_path, **TEXTS).graph
    with pytest.raises((RequestError, ParseError)):
        told_slice(graph, entity, key)


@pytest.mark.parametrize(
    ("entity", "key", "slice_"),
    [
        ("hours", "2024-06-01-03:00", "hours@2024-06-01T03"),
        ("parts", "2024-06-01|cn", "parts@2024-06-01/region=cn"),
        ("months", "2024-06-01", "months@2024-06"),
        ("quarters", "2024-04-01", "quarters@2024-Q2"),
        ("ods", "2024-06-01", "ods@2024-06-01"),
    ],
)
def test_a_key_as_dagster_spells_it_is_its_slice(tmp_path: Path, entity: str, key: str, slice_: str) -> None:
    assert str(told_slice(CenterWorld(tmp_path, **TEXTS).graph, entity, key)) == slice_


def test_an_event_that_cannot_be_taken_in_is_shown_and_the_next_one_is_taken_in(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world, refused = CenterWorld(tmp_path, **TEXTS), RefusedEvents(utc_now)
    report(instance, "hours", OWN_SPELLING)
    for metadata in METADATA:
        report(instance, "ods", "2024-06-01", metadata)
    report(instance, "parts", "2024-06-01")
    report(instance, "ods", "2024-06-02")
    detector = EventLogDetector(instance, world.center, world.store.read, refused)
    assert detector.poll() > 0
    assert world.ready() == ["dwd@2024-06-02"]
    assert refused.count == len(METADATA) + 2
    (observation,) = instance.fetch_observations(dg.AssetKey("hours"), limit=10).records
    told = observation.asset_observation
    assert told is not None
    assert "hours has no partition with this key: expected a key as Dagster's pages show it" in (told.description or "")
    again = EventLogDetector(instance, world.open_center(), world.store.read, RefusedEvents(utc_now))
    assert again.poll() == 0

    troubles = refused_troubles(refused.since(world.now), world.graph)
    assert {trouble.cause for trouble in troubles} == {
        f"events of {name} cannot be taken in" for name in ("hours", "ods", "parts")
    }
    from tidemark.alerts.alert import AlertKind

    book = AlertBook(world.store.database)
    book.reconcile(AlertKind.REFUSED, troubles, utc_now())
    assert len(book.open(AlertKind.REFUSED)) == 3


def test_what_nobody_foresaw_about_one_event_is_refused_alone(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, refused = CenterWorld(tmp_path, **TEXTS), RefusedEvents(utc_now)
    for day in ("2024-06-01", "2024-06-02"):
        report(instance, "ods", day)
    take = world.center.report

    def failing(facts: Any, **named: Any) -> Any:
        if any(fact.slice.key == "2024-06-01" for fact in facts):
            raise ZeroDivisionError("of one event")
        return take(facts, **named)

    monkeypatch.setattr(world.center, "report", failing)
    EventLogDetector(instance, world.center, world.store.read, refused).poll()
    assert world.ready() == ["dwd@2024-06-02"]
    assert [event.why for event in refused.since(world.now)] == ["of one event"]


@pytest.mark.parametrize(
    ("seed", "count"),
    [(53, 60), *(pytest.param(seed, 5_000, marks=pytest.mark.long) for seed in chunks(54, 1, 4))],
)
def test_any_event_leaves_the_detector_going(
    tmp_path: Path, instance: dg.DagsterInstance, seed: int, count: int
) -> None:
    """The long ones are 20,000 events in all, because Dagster's log takes a commit for each."""
    world, chance = CenterWorld(tmp_path, **TEXTS), random.Random(seed)
    keys = [key for some in KEYS.values() for key in some if "\ud800" not in key and "\0" not in key]
    for _ in range(count):
        metadata = chance.choice([{}, *({name: value} for given in METADATA for name, value in given.items())])
        key = chance.choice([*keys, None, "2024-06-01", "".join(map(chr, chance.choices(range(32, 0xD000), k=9)))])
        report(instance, chance.choice([*TEXTS, "foreign"]), key, metadata)
    report(instance, "ods", "2024-06-02")
    EventLogDetector(instance, world.center, world.store.read).poll()
    assert "dwd@2024-06-02" in world.ready()
