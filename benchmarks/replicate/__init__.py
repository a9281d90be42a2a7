"""Slices into a second lake: how fast, how little is sent, whether a reader sees half of one, what the mender finds.

Both lakes are folders of this machine. The publishes run in a process that is killed at points drawn by a seed, whose
target fails at every twentieth file, and whose source is vacuumed between; a reader polls the replica all the time, and
each version of it is looked at afterwards.

    mb_per_second       a slice of many files, copied, verified and published
    mb_per_second_ratio the same against a plain copy of the same files by as many threads: median of the rounds
    bytes_sent_ratio    of that slice, when 1 % of its rows were changed, what is sent of it
    visible_after_copy_ms_p90   from the last file being there until readers see the slice
    publishes, kills    versions of the replica, processes that died on the way
    failures, polls     puts that failed, looks of the reader
    torn_reads          looks, and versions, in which a slice was not as it was written as a whole
    mender_planted      damages of five kinds
    mender_found        those that were found as what they are
    mender_false        others that were told
    mender_left         what a second pass finds, and whether the rows are not those of the source then
"""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from benchmarks.replicate.publishes import measure_publishes
from tests.replication.lakes import TwoLakes, rows_at
from tidemark.dependency_model.slice import Slice
from tidemark.replication.bandwidth import Bandwidth
from tidemark.replication.mender import Damage, Mender, MenderReport
from tidemark.replication.slice_files import SliceFiles
from tidemark.replication.slice_replication import SliceReplication
from tidemark.state_store.slice_copies import SliceCopy
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    import argparse

_THREADS: Final = 4
_DAY: Final = "2026-03-28"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=200_000, help="of each file, 8 random bytes each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--publishes", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--plants", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="replicate-") as name:
        folder = Path(name)
        copied = _copied(folder, arguments.files, arguments.rows, arguments.rounds)
        published = measure_publishes(folder, arguments.publishes, arguments.kills, arguments.seed)
        return {**copied, **published, **_repaired(folder, arguments.plants, arguments.seed)}


def _copied(folder: Path, files: int, rows: int, rounds: int) -> dict[str, Any]:
    source = folder / "source"
    for number in range(files):
        ids = np.arange(number * rows, (number + 1) * rows)
        values = np.random.default_rng(number).integers(0, 2**62, rows)
        table = pa.table({"id": ids, "value": values, "dt": pa.array([_DAY] * rows)})
        write_deltalake(str(source), table, mode="append", partition_by=["dt"])
    version = DeltaTable(str(source)).version()
    ratios, speeds = [], []
    for number in range(rounds):
        plain = _timed(lambda number=number: _plain_copy(source, folder / f"plain{number}"))
        replica = folder / f"replica{number}"
        mine = _timed(lambda replica=replica: _replicate(source, replica, version, None))
        size = sum(file.stat().st_size for file in replica.rglob("*.parquet"))
        ratios.append(plain / mine)
        speeds.append(size / mine / 1_000_000)
        shutil.rmtree(folder / f"plain{number}")
        if number:
            shutil.rmtree(replica)
    DeltaTable(str(source)).update(updates={"value": "value + 1"}, predicate=f"id < {rows}")
    changed = _replicate(source, folder / "replica0", version + 1, version)
    shutil.rmtree(source)
    return {
        "files": files,
        "megabytes": round(changed.size_bytes / 1_000_000, 1),
        "mb_per_second": round(statistics.median(speeds), 1),
        "mb_per_second_ratio": round(statistics.median(ratios), 3),
        "bytes_sent_ratio": round(changed.sent_bytes / changed.size_bytes, 4),
    }


def _timed(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _plain_copy(source: Path, target: Path) -> None:
    """What a copy without log, checksums and states does: read and put each file."""
    here, there = stored_files(source), stored_files(target)
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(lambda name: there.put(name, here.read(name)), list(here.names())))


def _replicate(source: Path, replica: Path, version: int, basis: int | None) -> SliceCopy:
    planned = SliceCopy.planned(Slice("sales", _DAY), 1 if basis is None else 2, version, datetime.now(UTC), None)
    files = SliceFiles({"dt": _DAY})
    return SliceReplication(source, replica, files, basis, Bandwidth(None), lambda _: None).run(planned)


def _repaired(folder: Path, plants: int, seed: int) -> dict[str, Any]:
    """Three quarters are damaged files, the others extra ones, and slices into which somebody else wrote."""
    chance = random.Random(seed)
    foreign, extra = plants // 20, plants // 5
    days = [str(date(2026, 1, 1) + timedelta(days=number)) for number in range(max(2 * foreign, 4))]
    lakes, parts = TwoLakes.at(folder / "repaired"), -(-(plants - foreign - extra) // len(days)) + 2
    for number in range(parts):
        rows = pa.table({"id": list(range(len(days))), "value": [number] * len(days), "dt": days})
        write_deltalake(str(lakes.source), rows, mode="append", partition_by=["dt"])
    for day in days:
        lakes.complete(day, parts - 1)
    lakes.replicate()
    planted = _planted(lakes.replica, chance, days, foreign, extra, plants - foreign - extra)
    report = _pass(lakes)
    detected = {(told.what, told.damage) for told in report.findings}
    lakes.replicate()
    return {
        "mender_planted": len(planted),
        "mender_found": len(detected & planted),
        "mender_false": len(detected - planted),
        "mender_left": len(_pass(lakes).findings) + (rows_at(lakes.replica) != rows_at(lakes.source)),
    }


def _pass(lakes: TwoLakes) -> MenderReport:
    """Of the day after tomorrow, for which no file is young."""
    (declared,) = lakes.warehouse.settings.replicas
    place, lakes.now = declared.place(lakes.root), datetime.now(UTC) + timedelta(days=2)
    return Mender(lakes.warehouse, lakes.store, place, Bandwidth(None), lambda: lakes.now).run_pass()


def _planted(
    replica: Path, chance: random.Random, days: list[str], foreign: int, extra: int, damaged: int
) -> set[tuple[str, Damage]]:
    """Damages of each kind, and what the mender is to say of them."""
    planted = set[tuple[str, Damage]]()
    for file in chance.sample(sorted(replica.glob("dt=*/*.parquet")), damaged):
        kind = chance.choice((Damage.MISSING, Damage.OTHER_SIZE, Damage.OTHER_BYTES))
        _damage(file, kind, chance)
        planted.add((str(file.relative_to(replica)), kind))
    for number in range(extra):
        file = replica / f"dt={chance.choice(days)}" / f"extra{number}.parquet"
        file.write_bytes(chance.randbytes(100))
        planted.add((str(file.relative_to(replica)), Damage.EXTRA_FILE))
    for day in chance.sample(days, foreign):
        write_deltalake(str(replica), pa.table({"id": [-1], "value": [-1], "dt": [day]}), mode="append")
        planted.add((f"sales@{day}", Damage.OTHER_VERSION))
    return planted


def _damage(file: Path, kind: Damage, chance: random.Random) -> None:
    content = file.read_bytes()
    at = chance.randrange(len(content))
    if kind is Damage.MISSING:
        file.unlink()
    elif kind is Damage.OTHER_SIZE:
        file.write_bytes(content[:at])
    else:
        file.write_bytes(content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :])
