"""One of those who work on a table at the same time: `python -m tests.storage.at_work ROLE URI WHO STATE`.

Roles are `capture`, which merges batches of its own; `stranger`, who appends by delta-rs; `repair`, which makes one
partition what it was at first; `vacuum`, which leaves the last two versions and the first one. It begins with a line of
input, and writes a line with what it did; repair and vacuum go on until their input ends.

Whatever fails is done again, as the engine does it: files of a version that one was reading may be gone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from tests.storage.committer import until_it_is_made
from tidemark.system.table_location import remote_location

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tidemark.system.table_location import RemoteLocation

COLUMNS: Final = ("id", "part", "v", "_offset")
SCHEMA: Final = pa.schema([("id", pa.int64()), ("part", pa.string()), ("v", pa.string()), ("_offset", pa.int64())])
BATCHES: Final = 6
ROWS: Final = 12
"""Commits of the stranger; each third one puts a row where the repair is."""
SHARED: Final = 1
REPAIRED: Final = [(900 + number, "repaired", "as it was", 0) for number in range(5)]
FIRST: Final = 0
"""The version with nothing but `REPAIRED`."""
Row = tuple[int, str, str, int]


def changes_of(who: int, number: int) -> list[tuple[str, int, str, str, int]]:
    """Batch `number` (from 1): two new rows, one of the last batch's goes, and the row of both is changed."""
    first, part = 1_000 * who + 10 * number, f"capture {who}"
    new = [("u", first + digit, part, f"{who}.{number}", number) for digit in (0, 1)]
    gone = [("d", first - 10, part, "", number)] if number > 1 else []
    return [*new, *gone, ("u", SHARED, "both", f"{who}.{number}", 10 * number + who)]


def captured(who: int) -> list[Row]:
    """What is there of a capture after all of its batches, but for the row of both."""
    kept = [(number, digit) for number in range(1, BATCHES + 1) for digit in (0, 1) if digit or number == BATCHES]
    return [(1_000 * who + 10 * number + digit, f"capture {who}", f"{who}.{number}", number) for number, digit in kept]


def appended() -> list[Row]:
    """What is there of the stranger."""
    return [(5_000 + number, "stranger", "appended", 0) for number in range(ROWS)]


def session(table: RemoteLocation) -> SparkSession:
    from tidemark.spark.session import spark_session
    from tidemark.system.settings import Settings

    return spark_session(Settings.at(Path(tempfile.mkdtemp()), warehouse=table.parent, spark_memory="700m"))


def capture(table: RemoteLocation, who: int, _: Path) -> Callable[[threading.Event], int]:
    from tidemark.delta.commit_conflict import BackOff
    from tidemark.delta.commit_info import Transaction
    from tidemark.delta.merge import merge_changes
    from tidemark.delta.merge_target import MergeTarget

    spark, target = session(table), MergeTarget(table, COLUMNS, ("id",), "_offset", "part", "STRING")

    def merge(number: int) -> None:
        kinds = "_op STRING, id BIGINT, part STRING, v STRING, _offset BIGINT"
        frame = spark.createDataFrame(changes_of(who, number), kinds).localCheckpoint()
        parts = frozenset({f"capture {who}", "both"})
        merge_changes(frame, target, parts, Transaction(f"capture {who}", number, "{}"), BackOff(attempts=50))

    def work(_: threading.Event) -> int:
        for number in range(1, BATCHES + 1):
            until_it_is_made(merge)(number)
        return BATCHES

    return work


def stranger(table: RemoteLocation, _: int, __: Path) -> Callable[[threading.Event], int]:
    from deltalake import CommitProperties, write_deltalake

    from tidemark.delta.open_table import delta_rs_options

    def append(number: int) -> None:
        rows = [appended()[number], *([(7_000 + number, "repaired", "wrong", 0)] if number % 3 == 0 else [])]
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        patient = CommitProperties(max_commit_retries=1_000)
        options = delta_rs_options(table)
        content = pa.table(columns, schema=SCHEMA)
        write_deltalake(str(table), content, mode="append", storage_options=options, commit_properties=patient)

    def work(_: threading.Event) -> int:
        for number in range(ROWS):
            append(number)
            time.sleep(1)
        return ROWS

    return work


def repair(table: RemoteLocation, _: int, state: Path) -> Callable[[threading.Event], int]:
    from tidemark.delta.repair import repair_partition
    from tidemark.delta.repair_plan import plan_repair
    from tidemark.state_store.database import Database

    spark, database = session(table), Database.at(state)
    done: list[int] = []

    def once(_: int) -> None:
        plan = plan_repair(spark, table, {"part": "repaired"}, FIRST)
        if plan.way != "nothing":
            done.append(repair_partition(spark, plan, database).version)

    def work(is_over: threading.Event) -> int:
        while not is_over.is_set():
            until_it_is_made(once)(0)
        until_it_is_made(once)(0)
        return len(done)

    return work


def vacuum(table: RemoteLocation, _: int, state: Path) -> Callable[[threading.Event], int]:
    from tidemark.delta import vacuum as of_delta
    from tidemark.delta.retention import Claim, Retention
    from tidemark.state_store.database import Database

    database = Database.at(state)
    deleted: list[str] = []

    def once(_: int) -> None:
        kept = Retention(versions=2, age=timedelta(0))
        deleted.extend(of_delta.vacuum(table, kept, [Claim(FIRST, "tagged")], database).needless)

    def work(is_over: threading.Event) -> int:
        while not is_over.is_set():
            until_it_is_made(once)(0)
            time.sleep(1)
        return len(deleted)

    return work


ROLES: Final = {"capture": capture, "stranger": stranger, "repair": repair, "vacuum": vacuum}


def main() -> None:
    role, uri, who, state = sys.argv[1:]
    work = ROLES[role](remote_location(uri, os.environ, "argument"), int(who), Path(state))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    is_over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait, daemon=True).start()
    sys.stdout.write(f"{work(is_over)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
