"""Rows appended to a table, each in a commit of its own: `python -m tests.storage.committer KIND URI WHO`.

Each line of its input is the number of a row, and how many seconds to wait before; the answer is that number, once the
commit was acknowledged.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemark.system.table_location import remote_location

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.system.table_location import RemoteLocation


def by_delta_rs(table: RemoteLocation, who: str) -> Callable[[int], None]:
    from deltalake import CommitProperties, write_deltalake

    from tidemark.delta.open_table import delta_rs_options

    # Of several writers at once one may lose many times.
    patient = CommitProperties(max_commit_retries=1_000)
    options = delta_rs_options(table)

    def append(number: int) -> None:
        row = pa.table({"who": [who], "n": pa.array([number], pa.int64())})
        write_deltalake(str(table), row, mode="append", storage_options=options, commit_properties=patient)

    return append


def by_spark(table: RemoteLocation, who: str) -> Callable[[int], None]:
    from tidemark.spark.session import spark_session
    from tidemark.system.settings import Settings

    data = Path(tempfile.mkdtemp())
    spark = spark_session(Settings.at(data, warehouse=table.parent, spark_memory="700m"))

    def append(number: int) -> None:
        row = spark.sql(f"SELECT '{who}' AS who, {number}L AS n")
        row.write.format("delta").mode("append").save(str(table))

    return append


def main() -> None:
    kind, uri, who = sys.argv[1:]
    append = {"spark": by_spark, "delta-rs": by_delta_rs}[kind](remote_location(uri, os.environ, "argument"), who)
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
