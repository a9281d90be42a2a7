"""Runs texts of `tidemark engines` in their engines; a program, as the engines are not among the tests' libraries.

`python paste.py ENGINE TEXT_FILE PARQUET_FILE` writes the rows that the text gives.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def python_text(text: str) -> pa.Table:
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - what is tested
    rows = names["rows"]
    return rows.to_arrow() if hasattr(rows, "to_arrow") else pa.table(rows)


def duckdb_text(text: str) -> pa.Table:
    import duckdb

    extensions = importlib.import_module("duckdb_ext")  # as a package: what INSTALL would load from elsewhere
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET extension_directory = '{next(iter(extensions.__path__))}/extensions'")
    return pa.table(connection.sql(text))


def clickhouse_text(text: str) -> pa.Table:
    chdb = importlib.import_module("chdb")
    os.chdir("/")  # it reads what is below the working folder

    form = "output_format_arrow_string_as_string = 1"
    answer = chdb.query(f"{text.rstrip().removesuffix(';')}, {form}", "Arrow")
    return pa.ipc.open_file(pa.py_buffer(answer.bytes())).read_all()


RUN = {"duckdb": duckdb_text, "polars": python_text, "clickhouse": clickhouse_text, "delta": python_text}

if __name__ == "__main__":
    engine, text_file, parquet_file = sys.argv[1:]
    pq.write_table(RUN[engine](Path(text_file).read_text(encoding="utf-8")), parquet_file)
