"""Tags of snapshots: idempotent, never moved, safe between processes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidemark.state_store.database import Database
from tidemark.state_store.errors import SnapshotTagTakenError
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

FIRST = TaggedSnapshot("ods_orders", "day", "2026-03-23", 4, 10, datetime(2026, 3, 24, 0, 0, 5, tzinfo=UTC))
SECOND = replace(FIRST, slice="2026-03-24", version=9)


@pytest.fixture
def registry(database: Database) -> SnapshotRegistry:
    return SnapshotRegistry(database)


def test_every_reader_finds_a_tagged_snapshot(registry: SnapshotRegistry, url: str) -> None:
    registry.tag([SECOND, FIRST])
    reader = SnapshotRegistry(Database(url))
    assert reader.get("ods_orders", "day", "2026-03-23") == FIRST
    assert reader.of("ods_orders") == (FIRST, SECOND)
    assert reader.of("ods_orders", "hour") == ()
    assert reader.get("ods_orders", "day", "2026-03-25") is None


def test_tagging_again_changes_nothing(registry: SnapshotRegistry) -> None:
    registry.tag([FIRST])
    registry.tag([replace(FIRST, tagged_at=datetime(2027, 1, 1, tzinfo=UTC))])
    assert registry.of("ods_orders") == (FIRST,)


def test_a_tag_never_moves_and_a_refused_batch_leaves_nothing(registry: SnapshotRegistry) -> None:
    registry.tag([FIRST])
    with pytest.raises(SnapshotTagTakenError, match=r"ods_orders day 2026-03-23: .*version 5, found version 4, tagged"):
        registry.tag([SECOND, replace(FIRST, version=5)])
    assert registry.of("ods_orders") == (FIRST,)


def test_a_snapshot_is_restated_once_for_each_commit(registry: SnapshotRegistry) -> None:
    registry.tag([FIRST, SECOND])
    keys = [tag.key for tag in (FIRST, SECOND)]
    untagged = ("ods_orders", "day", "1999-01-01")
    (restated,) = registry.restate([keys[0], untagged], late_batch=7)
    assert restated == replace(FIRST, generation=2, late_batch=7, restatement=1)
    assert registry.restate([keys[0]], late_batch=7) == registry.restate([keys[0]], late_batch=6) == ()
    assert [tag.restatement for tag in registry.restate(keys, late_batch=8)] == [2, 3]
    assert [tag.slice for tag in registry.restatements_after(0)] == [FIRST.slice, SECOND.slice]
    assert [tag.slice for tag in registry.restatements_after(2)] == [SECOND.slice]
    registry.tag([FIRST])
    assert registry.get(*keys[0]) == replace(FIRST, generation=3, late_batch=8, restatement=2)


def test_a_waiting_tag_takes_in_late_changes_and_makes_no_generation(registry: SnapshotRegistry) -> None:
    waiting = [replace(FIRST, late_until=100), replace(SECOND, late_until=200)]
    registry.tag(waiting)
    keys = [tag.key for tag in waiting]
    assert registry.restate(keys, late_batch=7) == ()
    first, second = (replace(tag, late_batch=7) for tag in waiting)
    assert registry.of("ods_orders") == (first, second)
    registry.stop_waiting([keys[0], ("ods_users", "day", FIRST.slice)])
    assert registry.of("ods_orders") == (replace(first, late_until=0), second)
    assert registry.restate(keys, late_batch=8) == (
        replace(first, late_until=0, generation=2, late_batch=8, restatement=1),
    )
    assert registry.get(*keys[1]) == replace(second, late_batch=8)


def test_a_number_of_a_restatement_is_never_given_twice(registry: SnapshotRegistry) -> None:
    for _ in range(2):
        registry.tag([FIRST])
        registry.restate([("ods_orders", "day", FIRST.slice)], late_batch=7)
        seen = registry.restatements_after(0)
        registry.forget("ods_orders")
    assert [tag.restatement for tag in seen] == [2]


def test_the_newest_tags_are_kept(registry: SnapshotRegistry) -> None:
    days = [replace(FIRST, slice=f"2026-03-{day:02}", version=day) for day in (9, 30, 10, 11)]
    others = [
        replace(FIRST, period="hour", slice="2026-03-01T00"),
        replace(FIRST, entity="ods_users", slice="2026-01-01"),
    ]
    registry.tag([*days, *others])
    registry.keep("ods_orders", "day", 4)
    assert len(registry.of("ods_orders", "day")) == 4
    registry.keep("ods_orders", "day", 2)
    assert [tag.slice for tag in registry.of("ods_orders", "day")] == ["2026-03-11", "2026-03-30"]
    assert (len(registry.of("ods_orders", "hour")), len(registry.of("ods_users"))) == (1, 1)


def test_forgotten_tags_can_be_given_again(registry: SnapshotRegistry) -> None:
    registry.tag([FIRST, replace(FIRST, entity="ods_users")])
    registry.forget("ods_orders")
    assert registry.of("ods_orders") == ()
    assert len(registry.of("ods_users")) == 1
    registry.tag([replace(FIRST, version=5)])
    assert registry.of("ods_orders")[0].version == 5


def test_tags_are_in_the_store_that_the_settings_name(url: str, tmp_path: Path) -> None:
    settings = Settings.at(tmp_path, state=url)
    SnapshotRegistry(Database.of(settings)).tag([FIRST])
    assert SnapshotRegistry(StateStore.of(settings).database).of("ods_orders") == (FIRST,)
    assert not settings.state_db.exists()
    of_a_file = Settings.at(tmp_path)
    assert SnapshotRegistry(Database.of(of_a_file)).of("ods_orders") == ()
    assert of_a_file.state_db.exists()


def test_many_writers_at_once(url: str) -> None:
    def write(number: int) -> None:
        mine = SnapshotRegistry(Database(url))
        mine.tag([replace(FIRST, slice=f"{number}-{index}") for index in range(5)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len(SnapshotRegistry(Database(url)).of("ods_orders")) == 40
