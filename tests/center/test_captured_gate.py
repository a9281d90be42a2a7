"""Snapshots of a captured table are tagged after their blocking rules held: real tables, a real capture and Dagster."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.capture.operations.test_crash import Killed
from tests.capture.streams import at, order
from tests.center.captured_shop import RULES, CapturedShop, status
from tidemark.api.warehouse_status import WarehouseStatus
from tidemark.capture.operations import ingestion as ingestion_module
from tidemark.capture.snapshots import tagging
from tidemark.catalog.catalog import Catalog
from tidemark.compute import slice_computer
from tidemark.compute.errors import SnapshotMissingError
from tidemark.compute.repair import RepairRequest, carry_out, plan
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.compute.vacuum import plan_entity_vacuum
from tidemark.delta.retention import Retention
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MONDAY, TUESDAY, WEDNESDAY = ("2026-03-23", "2026-03-24", "2026-03-25")
OF_CAPTURE = ("ingest.before_tags", "ingest.before_candidates", "ingest.after_tags")
OF_RUN = ("snapshot.judged", "snapshot.tagged")
POINTS = (*OF_CAPTURE, *OF_RUN)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path, instance: dg.DagsterInstance) -> CapturedShop:
    """Monday was good."""
    made = CapturedShop(spark, tmp_path, instance)
    made.write(1, "1.00", 23)
    made.end(23)
    return made


def test_a_version_that_breaks_a_rule_is_never_tagged_and_the_next_slice_is_judged_by_itself(
    shop: CapturedShop, spark: SparkSession
) -> None:
    shop.capture()
    assert shop.tags == {}, "nothing is tagged before it was judged"
    shop.run()
    shop.expect(MONDAY)

    shop.write(2, "-5.00", 24)
    shop.end(24)
    host = shop.step()
    shop.expect(MONDAY)
    held, below = status(host, f"orders@{TUESDAY}"), status(host, f"spent@{TUESDAY}")
    assert (held.run_state, held.quality, held.valid) == (RunState.FAILED, Quality.FAILED, False)
    assert below.run_state is RunState.WAITING
    with pytest.raises(SnapshotMissingError, match=r"before it, orders 2026-03-23 is tagged.*a blocking rule failed"):
        Snapshots(spark, shop.runtime).read("orders", TUESDAY)
    assert Snapshots(spark, shop.runtime).read("orders", MONDAY).count() == 1

    shop.write(2, "5.00", 25, placed=24)
    shop.end(25)
    shop.step()
    shop.expect(MONDAY, WEDNESDAY)


@pytest.mark.long
def test_who_asks_is_told_why_a_slice_has_no_tag(shop: CapturedShop) -> None:
    shop.write(1, "-5.00", 24, placed=23)
    shop.end(24)
    shop.capture()
    stands = WarehouseStatus(shop.warehouse, StateStore.of(shop.warehouse.settings), utc_now())
    pending = [f"version {number} is not tagged: its blocking rules were not checked yet" for number in range(3)]
    assert stands.because(Slice("orders", TUESDAY))[0] in pending
    shop.run()
    stands = WarehouseStatus(shop.warehouse, StateStore.of(shop.warehouse.settings), utc_now())
    (why,) = stands.because(Slice("orders", TUESDAY))
    assert "is not tagged: a blocking rule failed: range: 1 rows with amount outside of 0 to ..." in why
    page = Catalog(shop.warehouse.graph, Database.of(shop.warehouse.settings)).page("orders")
    assert {slice_.slice.key: slice_.untagged for slice_ in page.slices} == {MONDAY: "", TUESDAY: why}


@pytest.mark.long
def test_a_rule_that_crashes_is_unknown_and_never_a_pass(
    spark: SparkSession, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    shop = CapturedShop(spark, tmp_path, instance, 'quality: [{expression: {holds: "1 / amount > 0"}}]\n')
    shop.write(1, "0.00", 23)
    shop.end(23)
    host = shop.step()
    shop.expect()
    held = status(host, f"orders@{MONDAY}")
    assert (held.run_state, held.quality) == (RunState.FAILED, Quality.UNKNOWN)
    assert status(host, f"spent@{MONDAY}").run_state is RunState.WAITING
    (candidate,) = shop.runtime.registry.candidates.of("orders")
    assert "the result of its blocking rules is unknown: expression: unknown, as the rule crashed" in candidate.reason
    shop.write(1, "4.00", 24, placed=23)
    shop.end(24)
    shop.step()
    shop.expect(TUESDAY)


def test_rules_that_only_warn_and_none_at_all_leave_it_to_the_capture(
    spark: SparkSession, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    warn = "quality: [{range: {column: amount, min: 0, severity: warn}}]\n"
    shop = CapturedShop(spark, tmp_path, instance, warn)
    shop.write(1, "-1.00", 23)
    shop.end(23)
    shop.capture()
    assert (list(shop.tags), shop.runtime.registry.candidates.of("orders")) == ([MONDAY], ())
    shop.run()
    shop.expect(MONDAY)


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_between_commit_rules_and_tag_loses_nothing_and_tags_nothing_twice(
    shop: CapturedShop, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    shop.write(2, "-5.00", 24)
    shop.end(24)
    shop.write(2, "5.00", 25, placed=24)
    shop.end(25)
    killed: list[str] = []

    def die(name: str) -> None:
        if name == point and not killed:
            killed.append(name)
            raise Killed

    with monkeypatch.context() as patch:
        for module in (ingestion_module, tagging, slice_computer):
            patch.setattr(module, "crash_point", die)
        if point in OF_RUN:
            shop.capture()
        with pytest.raises(Killed):
            # Dagster would take what ends a step for a failure of it.
            shop.judge(MONDAY, TUESDAY, WEDNESDAY) if point in OF_RUN else shop.capture()
    assert set(shop.tags) <= {MONDAY, WEDNESDAY}
    for _ in range(3):
        shop.step()
    shop.expect(MONDAY, WEDNESDAY)
    assert [candidate.snapshot.slice for candidate in shop.runtime.registry.candidates.of("orders")] == [TUESDAY]


@pytest.mark.long
@pytest.mark.parametrize("point", OF_RUN)
def test_killed_for_real_between_the_rules_and_the_tag(shop: CapturedShop, point: str) -> None:
    shop.capture()
    program = (
        "import sys; from pathlib import Path\n"
        "from tidemark.compute.runtime import Runtime; from tidemark.dependency_model.slice import Slice\n"
        "from tidemark.system.settings import Settings; from tidemark.warehouse.warehouse import load_warehouse\n"
        "settings = Settings.at(Path(sys.argv[1]), time_zone='UTC')\n"
        "runtime = Runtime(load_warehouse(settings, Path(sys.argv[2])))\n"
        f"runtime.computer().snapshots([Slice('orders', '{MONDAY}')])\n"
    )
    settings = shop.warehouse.settings
    arguments = [sys.executable, "-c", program, str(settings.data), str(settings.data.parent / "declared")]
    killed = subprocess.run(arguments, env={**os.environ, ENV_NAME: point}, check=False, timeout=600)
    assert killed.returncode == -signal.SIGKILL
    assert list(shop.tags) == ([MONDAY] if point == "snapshot.tagged" else [])
    shop.step()
    shop.expect(MONDAY)


@pytest.mark.long
def test_a_repair_lets_the_slice_be_judged_again(shop: CapturedShop) -> None:
    """The wrong partition is as it was on Monday; the version that the repair makes is judged, and tagged."""
    shop.step()
    shop.write(2, "-5.00", 24)
    shop.end(24)
    shop.step()
    shop.expect(MONDAY)
    refused = shop.runtime.registry.newest("orders", "day", TUESDAY)
    assert refused is not None
    request = RepairRequest("orders", f"order_date={TUESDAY}", from_version=shop.tags[MONDAY].version)
    report, _ = carry_out(shop.runtime, plan(shop.runtime, request, utc_now()))
    del shop.at_end[TUESDAY][2]
    host = shop.run()
    shop.expect(MONDAY, TUESDAY)
    assert (shop.tags[TUESDAY].version, shop.tags[TUESDAY].generation) == (report.version, 2)
    assert status(host, f"orders@{TUESDAY}").valid
    del shop.rows[2]
    shop.write(3, "3.00", 25)
    shop.end(25)
    shop.step()
    shop.expect(MONDAY, TUESDAY, WEDNESDAY)


@pytest.mark.long
def test_a_repair_under_later_changes_judges_no_slice_of_before(shop: CapturedShop) -> None:
    """The rows of Tuesday's end are in no version any more: what is repaired is Wednesday's."""
    shop.write(2, "-5.00", 24)
    shop.end(24)
    shop.write(3, "3.00", 25)
    shop.end(25)
    shop.step()
    shop.expect(MONDAY)
    request = RepairRequest("orders", f"order_date={TUESDAY}", from_version=shop.tags[MONDAY].version)
    carry_out(shop.runtime, plan(shop.runtime, request, utc_now()))
    del shop.at_end[WEDNESDAY][2]
    shop.run()
    shop.expect(MONDAY, WEDNESDAY)


@pytest.mark.long
def test_late_changes_of_a_tagged_slice_are_judged_before_readers_see_them(
    spark: SparkSession, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    shop = CapturedShop(spark, tmp_path, instance, RULES, "late_events: restate\n")
    shop.write(1, "1.00", 23)
    shop.end(23)
    shop.step()
    first = shop.tags[MONDAY]
    shop.stream.change("orders_0", None, order(7, "-7.00", 23), at(f"{MONDAY} 22:00"))
    shop.land()
    shop.step()
    assert shop.tags[MONDAY] == first, "what came late breaks the rule"
    shop.stream.change(
        "orders_0",
        order(7, "-7.00", 23),
        order(7, "7.00", 23),
        at(f"{MONDAY} 22:30"),
    )
    shop.land()
    shop.step()
    assert shop.tags[MONDAY].generation > first.generation
    assert {number: str(amount) for number, amount in shop.read(shop.tags[MONDAY]).items()} == {1: "1.00", 7: "7.00"}
    assert shop.spent()[MONDAY][0] == 2


def test_vacuum_keeps_what_waits_for_its_tag(shop: CapturedShop) -> None:
    shop.capture()
    newest = plan_entity_vacuum(shop.warehouse, shop.runtime.registry, "orders", Retention(versions=1)).kept
    assert [reason for version in newest for reason in version.reasons if "not tagged yet" in reason] == [
        f"orders {MONDAY} [day], not tagged yet"
    ]


@pytest.mark.long
@pytest.mark.parametrize("seed", [9, 3, 4])
def test_days_at_random_with_kills_are_tagged_exactly_where_every_amount_is_good(
    shop: CapturedShop, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A tag of a bad day, or a good day without one, would break it: so would a kill that loses or doubles a tag."""
    dice, to_die = random.Random(seed), list[str]()

    def die(name: str) -> None:
        if to_die and name == to_die[0]:
            to_die.pop()
            raise Killed

    for module in (ingestion_module, tagging, slice_computer):
        monkeypatch.setattr(module, "crash_point", die)
    for day in range(24, 31):
        placed = {number: 23 + number % 7 for number in range(100)}
        for number in dice.sample(range(2, 12), 3):
            shop.write(number, f"{dice.choice([-1, 1, 1, 1, 1]) * dice.randrange(1, 99)}.00", day, placed[number])
        shop.end(day)
        to_die[:] = [dice.choice(POINTS)]
        for _ in range(3):
            try:
                shop.step()
            except Killed:
                assert all(min(shop.read(tag).values()) >= 0 for tag in shop.tags.values())
        to_die.clear()
    good = [day for day, rows in shop.at_end.items() if min(rows.values()) >= 0]
    assert 1 < len(good) < len(shop.at_end), "the seed has to make both kinds"
    shop.expect(*good)
