"""Somebody else deletes, rolls back, overwrites and vacuums: the store says so after one pass, and takes it back."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.catalog.lake import DAYS, NOW, Lake
from tests.lake_folder import lake_folder
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND, THIRD = DAYS
CAPTURED: Final = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three days written by us, and a report of the first two; nothing is noted yet."""
    lake = Lake(tmp_path)
    for number, day in enumerate(DAYS):
        lake.write(day, [number, number + 10])
    for day in DAYS[:2]:
        lake.tell(day, None, entity="reports")
    return lake


@pytest.mark.parametrize("is_noted", [True, False])
def test_deleted_data_is_absent_and_who_waits_for_it_waits(lake: Lake, is_noted: bool) -> None:
    if is_noted:
        assert lake.poll().absent == 0
    assert Slice("reports", THIRD) in lake.center.ready()
    lake.delete(THIRD)
    report = lake.poll()
    assert (report.absent, report.foreign, report.recovered) == (1, 0, 0)
    assert [lake.shown(f"sales@{day}") for day in DAYS] == ["completed", "completed", "absent"]
    assert Slice("reports", THIRD) not in lake.center.ready()
    last = lake.store.read.history(Slice("sales", THIRD))[-1]
    assert (last.event, last.who, last.why) == (Event.DELETED, "storage", "DELETE of version 3 left none of its rows")


@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize("marked", [True, False])
def test_overwritten_data_is_foreign_and_taints_downstream_slices(tmp_path: Path, is_noted: bool, marked: bool) -> None:
    lake = Lake(tmp_path)
    lake.write(FIRST, [1], marked=marked)
    lake.write(SECOND, [2], marked=marked)
    lake.tell(FIRST, None, entity="reports")
    if is_noted:
        assert lake.poll().foreign == 0
    lake.commit(FIRST, [5, 6])
    assert lake.poll().foreign == 1
    assert (lake.shown(f"sales@{FIRST}"), lake.shown(f"sales@{SECOND}")) == ("foreign", "completed")
    assert lake.shown(f"reports@{FIRST}") == "completed tainted"
    status = lake.center.status(Slice("sales", FIRST))
    assert (status.valid, status.quality) == (False, Quality.UNKNOWN)
    assert lake.poll().foreign == 0, "told once"


def test_added_rows_of_another_program_are_foreign(lake: Lake) -> None:
    lake.poll()
    lake.append(SECOND, [77])
    assert lake.poll().foreign == 1
    assert lake.shown(f"sales@{SECOND}") == "foreign"


def test_a_rollback_is_reported_for_the_slices_that_it_undid(lake: Lake) -> None:
    lake.poll()
    lake.write(FIRST, [100])
    lake.write("2026-03-26", [4])
    newest = lake.version
    lake.poll()
    lake.restore(2)
    report = lake.poll()
    assert (report.absent, report.foreign) == (1, 1)
    assert (lake.shown(f"sales@{FIRST}"), lake.shown("sales@2026-03-26")) == ("foreign", "absent")
    assert lake.shown(f"sales@{SECOND}") == "completed"
    lake.restore(newest)
    assert lake.poll().recovered == 2
    assert [lake.shown(f"sales@{day}") for day in (*DAYS, "2026-03-26")] == ["completed"] * 4
    assert lake.center.status(Slice("sales", "2026-03-26")).quality is Quality.PASSED
    assert lake.center.status(Slice("sales", FIRST)).valid


def test_a_new_run_makes_a_foreign_slice_good(lake: Lake) -> None:
    lake.commit(FIRST, [9])
    lake.poll()
    lake.write(FIRST, [1, 2])
    assert lake.shown(f"sales@{FIRST}") == "completed"
    report = lake.poll()
    assert (report.foreign, report.absent, report.recovered) == (0, 0, 0)
    assert lake.center.status(Slice("sales", FIRST)).valid


def test_a_running_slice_is_not_judged_until_its_run_has_ended(lake: Lake) -> None:
    lake.poll()
    lake.center.report([_started(FIRST)], strict=True)
    lake.commit(FIRST, [9])
    assert lake.poll().foreign == 0
    assert lake.shown(f"sales@{FIRST}") == "running"
    lake.tell(FIRST, 0)
    assert lake.poll().foreign == 1, "the stranger came during the run, behind what that tells"


def test_the_version_that_a_run_tells_later_makes_its_commit_ours(lake: Lake) -> None:
    lake.poll()
    lake.center.report([_started(FIRST)], strict=True)
    version = lake.commit(FIRST, [9])
    lake.poll()
    lake.tell(FIRST, version, 1)
    assert lake.poll().foreign == 0
    assert lake.shown(f"sales@{FIRST}") == "completed"


def test_a_table_that_is_deleted_and_put_back(lake: Lake, tmp_path: Path) -> None:
    lake.poll()
    shutil.copytree(lake_folder(lake.path), tmp_path / "backup")
    shutil.rmtree(lake_folder(lake.path))
    assert lake.poll().absent == 3
    assert lake.poll().absent == 0
    shutil.copytree(tmp_path / "backup", lake_folder(lake.path))
    assert lake.poll().recovered == 3
    assert [lake.shown(f"sales@{day}") for day in DAYS] == ["completed"] * 3


@pytest.mark.parametrize("is_noted", [True, False])
def test_a_table_that_is_deleted_before_the_look_at_its_newest_write(lake: Lake, is_noted: bool) -> None:
    if is_noted:
        lake.poll()
    lake.write("2026-03-26", [4])
    shutil.rmtree(lake_folder(lake.path))
    assert lake.poll().absent == 4
    assert {lake.shown(f"sales@{day}") for day in (*DAYS, "2026-03-26")} == {"absent"}


@pytest.mark.parametrize("is_noted", [True, False])
def test_an_older_lake_lacks_the_slices_of_today(lake: Lake, tmp_path: Path, is_noted: bool) -> None:
    lake.poll()
    shutil.copytree(lake_folder(lake.path), tmp_path / "backup")
    lake.write(FIRST, [1000])
    lake.write("2026-03-26", [4])
    if is_noted:
        lake.poll()
    shutil.copytree(lake_folder(lake.path), tmp_path / "today")
    put_back(lake, tmp_path / "backup")
    report = lake.poll()
    assert (report.foreign, report.absent) == (1, 1)
    assert (lake.shown(f"sales@{FIRST}"), lake.shown("sales@2026-03-26")) == ("foreign", "absent")
    assert [lake.shown(f"sales@{day}") for day in (SECOND, THIRD)] == ["completed"] * 2
    put_back(lake, tmp_path / "today")
    assert lake.poll().recovered == 2, "the copy of today has what was computed"


def test_numbers_that_are_used_twice_after_a_restore_are_other_versions(lake: Lake, tmp_path: Path) -> None:
    lake.poll()
    shutil.copytree(lake_folder(lake.path), tmp_path / "backup")
    version = lake.write(FIRST, [1000])
    lake.poll()
    put_back(lake, tmp_path / "backup")
    assert lake.write(SECOND, [7]) == version, "the number of the lost commit"
    lake.poll()
    assert (lake.shown(f"sales@{FIRST}"), lake.shown(f"sales@{SECOND}")) == ("foreign", "completed")
    lake.write(FIRST, [1000])
    lake.poll()
    assert lake.shown(f"sales@{FIRST}") == "completed"


@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize(("day", "shown"), [(FIRST, "foreign"), ("2026-03-26", "absent")])
def test_a_commit_that_became_an_empty_file_lost_its_rows(lake: Lake, day: str, shown: str, is_noted: bool) -> None:
    lake.poll()
    lake.write(day, [5])
    if is_noted:
        lake.poll()
    log_file(lake, lake.version).write_bytes(b"")
    lake.poll()
    assert lake.shown(f"sales@{day}") == shown, "what is there is what was there before"
    lake.poll()
    assert lake.shown(f"sales@{day}") == shown
    lake.write(day, [5])
    lake.poll()
    assert lake.shown(f"sales@{day}") == "completed"


def test_a_commit_that_breaks_off_is_named_and_other_tables_are_looked_at(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write(FIRST, [1])
    report_table = lake.warehouse.table_path("reports")
    write_deltalake(lake_folder(report_table), pa.table({"n": [1]}))
    file = log_file(lake, 0)
    file.write_bytes(file.read_bytes()[:80])
    report = lake.detector.poll()
    ((entity, why),) = report.troubles
    assert (entity, report.is_whole) == ("sales", True)
    assert f"_delta_log/{0:020d}.json cannot be read" in why
    again = lake.open_detector()
    assert again.troubles == {"sales": why}, "noted, and read by another process"
    shutil.rmtree(lake_folder(lake.path))
    again.poll()
    assert (again.troubles, lake.open_detector().troubles) == ({}, {})


def test_a_table_whose_first_writer_is_at_work_is_no_trouble(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    (lake_folder(lake.path) / "_delta_log" / "_staged_commits").mkdir(parents=True)
    (lake_folder(lake.path) / "part-0.parquet").write_bytes(b"PAR1")
    (lake_folder(lake.path) / "_delta_log" / ".0.json.tmp").write_text("{}")
    assert lake.detector.poll().troubles == ()
    lake.write(FIRST, [1])
    assert lake.detector.poll().troubles == ()
    log_file(lake, 0).unlink()
    assert "found no commit" in dict(lake.detector.poll().troubles)["sales"]


def put_back(lake: Lake, copy: Path) -> None:
    shutil.rmtree(lake_folder(lake.path))
    shutil.copytree(copy, lake_folder(lake.path))


def log_file(lake: Lake, version: int) -> Path:
    return lake_folder(lake.path / "_delta_log" / f"{version:020d}.json")


def test_a_table_that_was_gone_before_the_first_pass(lake: Lake) -> None:
    shutil.rmtree(lake_folder(lake.path))
    assert lake.poll().absent == 3


def test_a_table_recreated_by_another_program(lake: Lake) -> None:
    lake.poll()
    shutil.rmtree(lake_folder(lake.path))
    lake.commit(FIRST, [1])
    lake.commit(SECOND, [1])
    report = lake.poll()
    assert (report.foreign, report.absent) == (2, 1)


def test_files_that_are_gone_without_a_commit_are_found_when_they_are_looked_for(lake: Lake) -> None:
    lake.poll()
    shutil.rmtree(lake_folder(lake.path / f"dt={SECOND}"))
    assert lake.poll(verify=True).absent == 1
    assert lake.shown(f"sales@{SECOND}") == "absent"
    assert lake.poll(verify=True).absent == 0


def test_a_vacuum_of_unused_files_changes_nothing(lake: Lake) -> None:
    lake.write(FIRST, [5])
    lake.poll()
    DeltaTable(str(lake.path)).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    report = lake.poll()
    assert (report.absent, report.foreign) == (0, 0)


def test_an_empty_slice_is_not_absent(lake: Lake) -> None:
    lake.tell("2026-03-27", lake.version, 0)
    lake.write("2026-03-28", [])
    assert lake.poll().absent == 0


def test_wiped_slices_stay_wiped(lake: Lake) -> None:
    lake.poll()
    lake.center.report([_wiped(FIRST)])
    assert lake.poll().recovered == 0
    assert lake.shown(f"sales@{FIRST}") == "absent"


@pytest.fixture
def captured(tmp_path: Path) -> Lake:
    """A captured table of two versions, both tagged and told."""
    lake = Lake(tmp_path / "captured", {"orders": (CAPTURED, "")})
    path, registry = lake.warehouse.table_path("orders"), SnapshotRegistry(lake.store.database)
    for number, day in enumerate(DAYS[:2]):
        write_deltalake(lake_folder(path), pa.table({"id": [number]}), mode="overwrite")
        registry.tag([TaggedSnapshot("orders", "day", day, number, 1, NOW)])
        lake.tell(day, number, 1, entity="orders")
    assert lake.poll().absent == 0
    return lake


def test_a_strangers_vacuum_makes_tagged_snapshots_absent(captured: Lake) -> None:
    table = DeltaTable(str(captured.warehouse.table_path("orders")))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert captured.poll().absent == 1
    assert [captured.shown(f"orders@{day}") for day in DAYS[:2]] == ["absent", "completed"]
    assert captured.poll().absent == 0


def test_a_tag_beyond_the_end_of_the_log_is_absent(captured: Lake) -> None:
    folder = lake_folder(captured.warehouse.table_path("orders")) / "_delta_log"
    (folder / f"{1:020d}.json").rename(folder / "kept")
    assert captured.poll().absent == 1
    assert [captured.shown(f"orders@{day}") for day in DAYS[:2]] == ["completed", "absent"]
    last = captured.store.read.history(Slice("orders", SECOND))[-1]
    assert last.why == "the log ends at version 0, and the tag names version 1"
    (folder / "kept").rename(folder / f"{1:020d}.json")
    assert captured.poll(verify=True).recovered == 1


def test_files_of_a_captured_table_that_go_without_a_word_in_the_log_are_missed(captured: Lake, tmp_path: Path) -> None:
    path = captured.warehouse.table_path("orders")
    (old,) = [action["add"]["path"] for action in _actions(lake_folder(path), 0) if "add" in action]
    (path / old).rename(tmp_path / "kept")
    report = captured.poll()
    assert (report.absent, captured.shown(f"orders@{FIRST}")) == (1, "absent")
    (tmp_path / "kept").rename(path / old)
    assert captured.poll(verify=True).recovered == 1


def test_a_foreign_write_to_a_captured_table_leaves_tagged_versions_unchanged(captured: Lake) -> None:
    write_deltalake(lake_folder(captured.warehouse.table_path("orders")), pa.table({"id": [9]}), mode="overwrite")
    report = captured.poll()
    assert (report.foreign, report.absent) == (0, 0)


def test_unchanged_tables_are_not_read_again(lake: Lake) -> None:
    assert lake.poll().commits == 3
    again = lake.poll()
    assert (again.changed, again.commits) == (0, 0)
    lake.append(FIRST, [1])
    assert lake.open_detector().poll().commits == 1, "another process goes on from the notes"
    assert lake.poll().commits == 0


def test_a_pass_that_died_before_its_notes_tells_the_same_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.poll()
    lake.delete(FIRST)
    with monkeypatch.context() as patch:
        patch.setattr("tidemark.catalog.notes.CatalogNotes.write", _die)
        with pytest.raises(KeyboardInterrupt):
            lake.poll()
    last = lake.store.read.last()
    assert lake.open_detector().poll().absent == 0
    assert (lake.shown(f"sales@{FIRST}"), lake.store.read.last()) == ("absent", last)


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def _started(day: str) -> Fact:
    return Fact(f"begun {day}", Slice("sales", day), Event.STARTED, NOW, "test", data=Facts(run_id=f"by hand {day}"))


def _wiped(day: str) -> Fact:
    return Fact(f"wiped {day}", Slice("sales", day), Event.DELETED, NOW, "dagster")


def _actions(path: Path, version: int) -> list[dict[str, Any]]:
    text = (path / "_delta_log" / f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]
