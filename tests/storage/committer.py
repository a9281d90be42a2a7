"""Rows appended to a table, each in a commit of its own: `python -m tests.storage.committer KIND PLACE WHO`.

Each line of its input is the number of a row, and how many seconds to wait before; the answer is that number, once the
commit was acknowledged. By a kind that ends with `-again` a commit that failed is made again, as by the engine; the
number in a commit tells one that was made and not acknowledged.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from tidemark.system.table_location import remote_location

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.system.table_location import TableLocation


AGAIN: Final = "-again"
_MOST_TRIES: Final = 60


def by_delta_rs(table: TableLocation, who: str) -> Callable[[int], None]:
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    from tidemark.delta.open_table import delta_rs_options

    options = delta_rs_options(table)

    def append(number: int) -> None:
        if DeltaTable(str(table), storage_options=options).transaction_version(who) == number:
            return
        row = pa.table({"who": [who], "n": pa.array([number], pa.int64())})
        # Of several writers at once one may lose many times.
        patient = CommitProperties(max_commit_retries=1_000, app_transactions=[Transaction(who, number)])
        write_deltalake(str(table), row, mode="append", storage_options=options, commit_properties=patient)

    return append


def by_spark(table: TableLocation, who: str) -> Callable[[int], None]:
    from tidemark.spark.session import spark_session
    from tidemark.system.settings import Settings

    data = Path(tempfile.mkdtemp())
    spark = spark_session(Settings.at(data, warehouse=table.parent, spark_memory="700m"))

    def append(number: int) -> None:
        row = spark.sql(f"SELECT '{who}' AS who, {number}L AS n")
        numbered = row.write.format("delta").option("txnAppId", who).option("txnVersion", number)
        numbered.mode("append").save(str(table))

    return append


def until_it_is_made(append: Callable[[int], None]) -> Callable[[int], None]:
    def again(number: int) -> None:
        for _ in range(_MOST_TRIES - 1):
            try:
                append(number)
            except Exception as failed:  # noqa: BLE001 - whatever a library makes of a store that is down
                sys.stderr.write(f"{type(failed).__name__}: {str(failed)[:300]}\n")
                time.sleep(1)
            else:
                return
        append(number)

    return again


def main() -> None:
    kind, uri, who = sys.argv[1:]
    writer = {"spark": by_spark, "delta-rs": by_delta_rs}[kind.removesuffix(AGAIN)]
    append = writer(Path(uri) if uri.startswith("/") else remote_location(uri, os.environ, "argument"), who)
    if kind.endswith(AGAIN):
        append = until_it_is_made(append)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        number, wait = line.split()
        time.sleep(float(wait))
        append(int(number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
