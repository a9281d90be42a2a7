"""Every planted damage of a replica is found, reported and repaired, and nothing else is."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.replication.lakes import TwoLakes, rows_at
from tidemark.replication.bandwidth import Bandwidth
from tidemark.replication.mender import Damage, Mender, MenderReport

if TYPE_CHECKING:
    from pathlib import Path

DAYS = ("2026-03-26", "2026-03-27", "2026-03-28")


@pytest.fixture
def lakes(tmp_path: Path) -> TwoLakes:
    lakes = TwoLakes.at(tmp_path)
    for number, day in enumerate(DAYS):
        lakes.complete(day, lakes.write(day, {"id": list(range(number, number + 40))}, files=4))
    lakes.replicate()
    return lakes


def repair(lakes: TwoLakes) -> MenderReport:
    """A pass of tomorrow: no file is young."""
    (declared,) = lakes.warehouse.settings.replicas
    place, lakes.now = declared.place(lakes.root), datetime.now(UTC) + timedelta(days=1)
    return Mender(lakes.warehouse, lakes.store, place, Bandwidth(None), lambda: lakes.now).run_pass()


def found_in(report: MenderReport) -> set[tuple[str, Damage]]:
    return {(told.what, told.damage) for told in report.findings}


def files_of(table: Path) -> list[Path]:
    return sorted(table.glob("dt=*/*.parquet"))


def damage(file: Path, kind: Damage, chance: random.Random) -> None:
    content = file.read_bytes()
    if kind is Damage.MISSING:
        file.unlink()
    elif kind is Damage.OTHER_SIZE:
        file.write_bytes(content[: chance.randrange(len(content))] if chance.random() < 0.8 else content + b"x")
    else:
        at = chance.randrange(len(content))
        file.write_bytes(content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :])


def test_unchanged_files_are_not_repaired(lakes: TwoLakes) -> None:
    report = repair(lakes)
    assert (report.files, report.findings, report.troubles) == (12, [], {})
    assert report.read_bytes == sum(file.stat().st_size for file in files_of(lakes.replica))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_sent_again(lakes: TwoLakes, seed: int) -> None:
    chance = random.Random(seed)
    kinds = (Damage.MISSING, Damage.OTHER_SIZE, Damage.OTHER_BYTES)
    planted = {file: chance.choice(kinds) for file in chance.sample(files_of(lakes.replica), 6)}
    for file, kind in planted.items():
        damage(file, kind, chance)

    report = repair(lakes)

    assert found_in(report) == {(str(file.relative_to(lakes.replica)), kind) for file, kind in planted.items()}
    assert {told.done for told in report.findings} == {"sent again"}
    assert repair(lakes).findings == []
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert DeltaTable(str(lakes.replica)).version() == 2


def test_a_file_that_no_version_has_is_deleted_when_it_is_old(lakes: TwoLakes) -> None:
    extra = lakes.replica / f"dt={DAYS[0]}" / "extra.parquet"
    extra.write_bytes(b"somebody left it")
    (declared,) = lakes.warehouse.settings.replicas
    young = Mender(lakes.warehouse, lakes.store, declared.place(lakes.root), Bandwidth(None)).run_pass()
    assert (young.findings, extra.exists()) == ([], True)
    assert found_in(repair(lakes)) == {(f"dt={DAYS[0]}/extra.parquet", Damage.EXTRA_FILE)}
    assert not extra.exists()


def test_foreign_files_are_removed_from_their_slice(lakes: TwoLakes) -> None:
    write_deltalake(str(lakes.replica), pa.table({"id": [999], "dt": [DAYS[1]]}), mode="append")
    assert found_in(repair(lakes)) == {(f"sales@{DAYS[1]}", Damage.OTHER_VERSION)}
    assert lakes.replicate().published == 1
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert repair(lakes).findings == []


def test_files_deleted_by_other_programs_are_restored(lakes: TwoLakes) -> None:
    DeltaTable(str(lakes.replica)).delete(f"dt = '{DAYS[2]}'")
    assert found_in(repair(lakes)) == {(f"sales@{DAYS[2]}", Damage.OTHER_VERSION)}
    report = lakes.replicate()
    assert (report.published, report.sent_bytes) == (1, 0)
    assert rows_at(lakes.replica) == rows_at(lakes.source)


@pytest.mark.parametrize("left", [0, 1])
def test_a_table_that_is_gone_or_lost_its_last_versions_is_published_again(lakes: TwoLakes, left: int) -> None:
    log = lakes.replica / "_delta_log"
    for version in range(left, 3):
        (log / f"{version:020d}.json").unlink()
    report = repair(lakes)
    assert found_in(report) == {(f"sales@{day}", Damage.OTHER_VERSION) for day in DAYS[left:]}
    assert lakes.replicate().published == 3 - left
    assert rows_at(lakes.replica) == rows_at(lakes.source)


def test_rows_of_a_file_missing_at_the_source_come_from_its_other_files(lakes: TwoLakes) -> None:
    """The files of before a clustering stand in for its own: without them these are sent."""
    source = DeltaTable(str(lakes.source))
    source.optimize.compact()
    lakes.complete(DAYS[0], DeltaTable(str(lakes.source)).version())
    assert lakes.replicate().sent_bytes == 0
    DeltaTable(str(lakes.source)).vacuum(
        0, enforce_retention_duration=False, dry_run=False, keep_versions=[DeltaTable(str(lakes.source)).version()]
    )
    lost = next(file for file in files_of(lakes.replica) if DAYS[0] in str(file))
    lost.unlink()

    report = repair(lakes)

    assert found_in(report) == {(str(lost.relative_to(lakes.replica)), Damage.MISSING)}
    assert lakes.replicate().sent_bytes > 0
    assert rows_at(lakes.replica) == rows_at(lakes.source)
    assert repair(lakes).findings == []
