"""Completed slices come to another lake: all of each or nothing, once, and only what is not there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.replication.lakes import TwoLakes, rows_at
from tests.state_store.examples import chain
from tidemark.compute.table_version_tags import claims_of_tags
from tidemark.state_store.slice_copies import CopyState
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from pathlib import Path

DAY, NEXT = "2026-03-28", "2026-03-29"
_KILLED = """
import sys
from pathlib import Path
from tests.replication.lakes import TwoLakes
TwoLakes.opened(Path(sys.argv[1])).replicate()
"""


@pytest.fixture
def lakes(tmp_path: Path) -> TwoLakes:
    return TwoLakes.at(tmp_path)


def ids(*numbers: int) -> dict[str, list[int]]:
    return {"id": list(numbers)}


def test_a_completed_slice_is_published_with_its_rows_and_no_others(lakes: TwoLakes) -> None:
    version = lakes.write(DAY, ids(1, 2, 3), files=2)
    lakes.write(NEXT, ids(4))
    lakes.complete(DAY, version)

    report = lakes.replicate()

    assert (report.published, report.troubles) == (1, {})
    assert rows_at(lakes.replica) == [(1, DAY), (2, DAY), (3, DAY)]
    copy = lakes.copy(DAY)
    assert copy.state is CopyState.PUBLISHED
    assert copy.published
    assert (copy.published.version, copy.published.replica_version, copy.files) == (version, 0, 2)
    assert (report.sent_bytes, lakes.replicate().published) == (copy.size_bytes, 0)


def test_a_slice_that_is_not_valid_stays_here(lakes: TwoLakes) -> None:
    version = lakes.write(DAY, ids(1))
    slice_ = lakes.complete(DAY, version)
    last = lakes.store.read.last()
    tainted = lakes.store.read.current(slice_)
    assert tainted
    lakes.store.write.append(chain(slice_, "tainted", last + 1, tainted.status), after=last)
    assert lakes.replicate().published == 0
    assert not lakes.replica.exists()


def test_the_exact_version_is_copied_whatever_came_after_it(lakes: TwoLakes) -> None:
    version = lakes.write(DAY, ids(1, 2), files=2)
    lakes.complete(DAY, version)
    lakes.write(DAY, ids(7))
    lakes.replicate()
    assert rows_at(lakes.replica) == [(1, DAY), (2, DAY)]


def test_only_changed_files_are_sent(lakes: TwoLakes) -> None:
    version = lakes.write(DAY, ids(*range(400)), files=20)
    lakes.complete(DAY, version)
    first = lakes.replicate().sent_bytes
    write_deltalake(str(lakes.source), pa.table({"id": [999], "dt": [DAY]}), mode="append")
    lakes.complete(DAY, version + 1)
    report = lakes.replicate()
    assert report.published == 1
    assert 0 < report.sent_bytes < first / 10
    assert rows_at(lakes.replica) == rows_at(lakes.source)


def test_rows_that_were_clustered_into_other_files_are_not_sent_again(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, ids(*range(400)), files=20))
    lakes.replicate()
    DeltaTable(str(lakes.source)).optimize.compact()
    write_deltalake(str(lakes.source), pa.table({"id": [999], "dt": [DAY]}), mode="append")
    lakes.complete(DAY, DeltaTable(str(lakes.source)).version())
    report = lakes.replicate()
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert len(DeltaTable(str(lakes.source)).file_uris()) == 2
    assert 0 < report.sent_bytes < 2_000


def test_files_with_the_same_bytes_are_not_sent_again(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, ids(1, 2, 3)))
    lakes.replicate()
    lakes.complete(DAY, lakes.write(DAY, ids(1, 2, 3)))
    report = lakes.replicate()
    assert (report.published, report.sent_bytes) == (1, 0)
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    copy = lakes.copy(DAY)
    assert copy.published
    assert copy.published.generation == 2


def test_a_column_that_was_added_comes_along_and_an_older_day_does_not_take_it_away(lakes: TwoLakes) -> None:
    old = lakes.write(DAY, ids(1))
    rows = pa.table({"id": [2], "dt": [NEXT], "price": [7]})
    write_deltalake(str(lakes.source), rows, mode="append", schema_mode="merge")
    lakes.complete(NEXT, old + 1)
    lakes.replicate()
    lakes.complete(DAY, old)
    lakes.replicate()
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert DeltaTable(str(lakes.replica)).version() == 1


def test_a_checkpoint_of_the_replica_keeps_the_tags_of_its_files(lakes: TwoLakes) -> None:
    for number in range(22):
        lakes.complete(DAY, lakes.write(DAY, ids(number)))
        lakes.replicate()
    checkpoint = lakes.replica / "_delta_log" / f"{20:020d}.checkpoint.parquet"
    assert checkpoint.is_file()
    sent = lakes.replicate().sent_bytes
    lakes.complete(DAY, lakes.write(DAY, ids(21)))
    assert (lakes.replicate().sent_bytes, sent) == (0, 0)
    assert rows_at(lakes.replica) == [(21, DAY)]


@pytest.mark.parametrize("table", ["foreign", "of another table"])
def test_a_table_of_that_name_that_is_another_one_is_left_alone(lakes: TwoLakes, table: str) -> None:
    if table == "foreign":
        write_deltalake(str(lakes.replica), pa.table({"other": [1]}))
    else:
        lakes.complete(DAY, lakes.write(DAY, ids(1)))
        lakes.replicate()
        shutil.rmtree(lakes.source)
    before = DeltaTable(str(lakes.replica)).version()
    slice_ = lakes.complete(DAY, lakes.write(DAY, ids(2)))
    why = lakes.replicate().troubles[slice_]
    assert "the replica's folder has a different table, nothing was written" in why
    assert DeltaTable(str(lakes.replica)).version() == before
    assert lakes.copy(DAY).state is CopyState.FAILED


def test_a_file_that_is_gone_at_the_source_is_named_and_nothing_is_published(lakes: TwoLakes) -> None:
    slice_ = lakes.complete(DAY, lakes.write(DAY, ids(1, 2), files=2))
    gone = next((lakes.source / f"dt={DAY}").glob("*.parquet"))
    gone.unlink()
    why = lakes.replicate().troubles[slice_]
    assert "a file of the slice is missing at its source" in why
    assert gone.name in why
    assert not (lakes.replica / "_delta_log").exists()


def test_a_damaged_file_at_the_source_is_not_spread(lakes: TwoLakes) -> None:
    slice_ = lakes.complete(DAY, lakes.write(DAY, ids(1, 2)))
    damaged = next((lakes.source / f"dt={DAY}").glob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-7])
    assert "damaged at its source" in lakes.replicate().troubles[slice_]
    assert not (lakes.replica / "_delta_log").exists()


def test_a_lake_without_rights_is_reported_and_retried(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, ids(1)))
    (lakes.root / "lake_b").write_text("no folder")
    assert len(lakes.replicate().troubles) == 1
    assert (lakes.copy(DAY).state, lakes.copy(DAY).attempts) == (CopyState.PLANNED, 1)
    (lakes.root / "lake_b").unlink()
    assert lakes.replicate().published == 1


def test_unreplicated_versions_are_kept_from_vacuum(lakes: TwoLakes) -> None:
    version = lakes.write(DAY, ids(1))
    lakes.complete(DAY, version)
    (lakes.root / "lake_b").write_text("no folder")
    lakes.replicate()
    registry = SnapshotRegistry(lakes.store.database)
    claims = claims_of_tags(lakes.warehouse, registry, "sales")
    assert [(claim.version, claim.reason) for claim in claims] == [(version, f"sales@{DAY} is not at b yet")]
    (lakes.root / "lake_b").unlink()
    lakes.replicate()
    assert claims_of_tags(lakes.warehouse, registry, "sales") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "seen"),
    [
        ("replicate.copying:2", False),
        pytest.param("replicate.copied", False, marks=pytest.mark.long),
        pytest.param("replicate.before_publish", False, marks=pytest.mark.long),
        ("replicate.published", True),
    ],
)
def test_a_killed_copy_goes_on_where_it_was(lakes: TwoLakes, point: str, seen: bool) -> None:
    old = ids(*range(100))
    lakes.complete(DAY, lakes.write(DAY, old))
    lakes.replicate()
    lakes.complete(DAY, lakes.write(DAY, ids(*range(7, 61)), files=4))

    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(lakes.root)],
        env={**os.environ, "TIDEMARK_CRASH_AT": point},
        check=False,
        timeout=60,
    )

    assert killed.returncode == -signal.SIGKILL
    assert rows_at(lakes.replica) == (
        rows_at(lakes.source) if seen else [(n, DAY) for n in sorted(old["id"], key=lambda n: f"({n},")]
    )
    there = len(list((lakes.replica / f"dt={DAY}").glob("*.parquet"))) - 1
    sent = lakes.replicate().sent_bytes
    copy = lakes.copy(DAY)
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert copy.published
    assert (copy.state, copy.published.replica_version) == (CopyState.PUBLISHED, 1)
    assert (there >= 1, sent < copy.size_bytes) == (True, True)
    assert (sent == 0) == (there == copy.files)
