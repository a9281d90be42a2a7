"""Two captures with data folders of their own on one warehouse: the older one is refused, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.source.kafka.sent import SentIntake, SentValues
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import USERS, Stream, at
from tidemark.capture.apply import table_ingest
from tidemark.capture.errors import FencedCaptureError, FencedWriteError
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.errors import ForeignCommitError
from tidemark.state_store.database import Database
from tidemark.state_store.errors import FencedError
from tidemark.state_store.schema import LEASES
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.source.intake import Due
    from tidemark.capture.source.scan import Scan
    from tidemark.capture.source_table import SourceTable

pytestmark = pytest.mark.spark

RESTATED = [replace(TABLES[1], restated=frozenset({"ods_users"}))]


class Interrupted(SentIntake):
    """Something happens after a step has read where the tables stand, and before it commits."""

    def __init__(self, values: SentValues, meanwhile: Callable[[], object]) -> None:
        super().__init__(values)
        self._meanwhile = meanwhile

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        self._meanwhile()
        return super().scan(spark, due, tables, reached)


def users(count: int) -> SentValues:
    """The topic with so many users in it."""
    a = Stream("a")
    a.declare("users", USERS, at("2026-03-23 09:00"))
    for number in range(1, count + 1):
        a.change("users", None, {"user_id": number, "name": "n"}, at("2026-03-23 10:00"))
    return {"a": values_of(a)}


def capture(
    spark: SparkSession, folder: Path, name: str, intake: SentIntake, tables: Sequence[SourceTable] = TABLES[1:]
) -> Ingestion:
    settings = Settings.at(folder / name, warehouse=str(folder / "warehouse"))
    return Ingestion(spark, settings, tables, SnapshotRegistry.at(settings.state_db), intake)


def merged(folder: Path) -> list[int]:
    return sorted(read_rows(folder / "warehouse" / "ods_users", columns=["user_id"])["user_id"].to_pylist())


def test_the_older_of_two_captures_is_refused_and_nothing_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    old = capture(spark, tmp_path, "old", SentIntake(users(2)))
    old.step()
    capture(spark, tmp_path, "new", SentIntake(users(4))).step()
    with pytest.raises(FencedCaptureError, match="take-over"):
        old.step()
    assert merged(tmp_path) == [1, 2, 3, 4]


@pytest.mark.long
def test_a_capture_that_takes_over_in_the_middle_of_a_step_wins(spark: SparkSession, tmp_path: Path) -> None:
    capture(spark, tmp_path, "old", SentIntake(users(1))).step()
    new = capture(spark, tmp_path, "new", SentIntake(users(5)))
    # Both count alike: the same number, of other offsets.
    old = capture(spark, tmp_path, "old", Interrupted(users(3), new.step))
    with pytest.raises(ForeignCommitError, match=r"written by .*new.* fencing token 2"):
        old.step()
    assert merged(tmp_path) == [1, 2, 3, 4, 5]
    with pytest.raises(FencedCaptureError):
        old.step()
    new.step()
    assert merged(tmp_path) == [1, 2, 3, 4, 5]


def late_users(count: int) -> SentValues:
    """The topic with so many users who came when the day of their time was over."""
    a = Stream("a")
    a.declare("users", USERS, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 0, "name": "n"}, at("2026-03-23 10:00"))
    a.heartbeat(at("2026-03-23 23:01"))
    for number in range(1, count + 1):
        a.change("users", None, {"user_id": number, "name": "n"}, at("2026-03-23 22:00"))
    return {"a": values_of(a)}


def kept_late(folder: Path) -> list[tuple[int, int]]:
    path = late_path(folder / "warehouse", "ods_users")
    rows = read_rows(path, columns=["_batch", "user_id"]).to_pylist()
    return sorted((row["_batch"], row["user_id"]) for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("has_late_before", [True, False])
def test_a_capture_fenced_in_the_middle_leaves_the_new_ones_late_changes(
    spark: SparkSession, tmp_path: Path, has_late_before: bool
) -> None:
    """Also where it goes on only after the other one has kept and merged its late changes."""
    capture(spark, tmp_path, "old", SentIntake(late_users(2 if has_late_before else 0)), RESTATED).step()
    new = capture(spark, tmp_path, "new", SentIntake(late_users(5)), RESTATED)
    old = capture(spark, tmp_path, "old", Interrupted(late_users(3), new.step), RESTATED)
    with pytest.raises((ForeignCommitError, FencedWriteError)):
        old.step()
    assert merged(tmp_path) == [0, 1, 2, 3, 4, 5]
    assert [user for _, user in kept_late(tmp_path)] == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_a_take_over_during_a_merge_refuses_that_merge(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's late changes are kept already: they must not go while its commit comes."""
    capture(spark, tmp_path, "old", SentIntake(late_users(1)), RESTATED).step()
    old = capture(spark, tmp_path, "old", SentIntake(late_users(3)), RESTATED)
    # It has seen no more than the other one: nothing but taking over is done.
    new = capture(spark, tmp_path, "new", SentIntake(late_users(1)), RESTATED)
    monkeypatch.setattr(
        table_ingest, "crash_point", lambda name: new.step() if name == "ingest.before_commit" else None
    )
    with pytest.raises(ForeignCommitError):
        old.step()
    monkeypatch.undo()
    assert [user for _, user in kept_late(tmp_path)] == [1]
    capture(spark, tmp_path, "new", SentIntake(late_users(3)), RESTATED).step()
    assert merged(tmp_path) == [0, 1, 2, 3]
    assert [user for _, user in kept_late(tmp_path)] == [1, 2, 3]


def stopped_for_too_long(folder: Path, name: str) -> None:
    """As if the holder of all leases of a state store were on another machine, and had not renewed them in time."""
    with Database.of(Settings.at(folder / name)).writing() as connection:
        connection.execute(LEASES.update().values(until=1, process="elsewhere 1 1"))


@pytest.mark.long
def test_a_capture_that_was_stopped_in_the_middle_of_a_step_is_refused_when_it_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Another process with the same state store went on meanwhile: both count alike, to other offsets."""
    capture(spark, tmp_path, "same", SentIntake(users(1))).step()
    other = capture(spark, tmp_path, "same", SentIntake(users(5)))

    def go_on() -> None:
        stopped_for_too_long(tmp_path, "same")
        other.step()

    with pytest.raises((ForeignCommitError, FencedError)):
        capture(spark, tmp_path, "same", Interrupted(users(3), go_on)).step()
    assert merged(tmp_path) == [1, 2, 3, 4, 5]
    other.step()
    capture(spark, tmp_path, "same", SentIntake(users(6))).step()
    assert merged(tmp_path) == [1, 2, 3, 4, 5, 6]


@pytest.mark.long
@pytest.mark.parametrize("has_late_before", [True, False])
def test_late_changes_of_a_stopped_capture_belong_to_its_successor(
    spark: SparkSession, tmp_path: Path, has_late_before: bool
) -> None:
    before = late_users(2 if has_late_before else 0)
    capture(spark, tmp_path, "same", SentIntake(before), RESTATED).step()
    other = capture(spark, tmp_path, "same", SentIntake(late_users(5)), RESTATED)

    def go_on() -> None:
        stopped_for_too_long(tmp_path, "same")
        other.step()

    with pytest.raises((ForeignCommitError, FencedWriteError, FencedError)):
        capture(spark, tmp_path, "same", Interrupted(late_users(3), go_on), RESTATED).step()
    assert merged(tmp_path) == [0, 1, 2, 3, 4, 5]
    late = [user for _, user in kept_late(tmp_path)]
    assert sorted(late) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_the_lease_that_was_taken_over_is_not_taken_back_from_another_state_store(
    spark: SparkSession, tmp_path: Path
) -> None:
    old = capture(spark, tmp_path, "old", SentIntake(users(1)))
    old.step()
    capture(spark, tmp_path, "new", SentIntake(users(2))).step()
    for _ in range(3):
        with Database.of(Settings.at(tmp_path / "old")).writing() as connection:
            connection.execute(LEASES.update().values(until=1, holder="another", process="elsewhere 1 1"))
        with pytest.raises(FencedCaptureError, match="take-over"):
            old.step()
    capture(spark, tmp_path, "new", SentIntake(users(3))).step()
    assert merged(tmp_path) == [1, 2, 3]
