"""One generator in two dialects: a table of orders at the source, and in the lake with some rows spoiled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.capture.commits.commit_state import last_commit
from tidemark.delta.delta_rs_table import read_table
from tidemark.spark.temporary_settings import COMPILED, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.console.servers.mariadb import MariaDb

DATABASE, TABLE, ODS = "audited", "orders", "ods_orders"
SHARD: Final = f"a.{DATABASE}.{TABLE}"
CREATE: Final = (
    f"CREATE TABLE {DATABASE}.{TABLE} (order_id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, course_id INT, "
    "amount DECIMAL(10,2) NOT NULL, status TINYINT NOT NULL, note VARCHAR(64), created DATETIME NOT NULL, "
    "paid TIMESTAMP NULL)"
)
_AT_ONCE: Final = 1_000_000
_COMMON: Final = (
    "{n}",
    "MOD({n} * 7919, 1000003)",
    "IF(MOD({n}, 9) = 0, NULL, MOD({n}, 5000))",
    "CAST(MOD({n} * 31, 100000) AS DECIMAL(10,2)) / 100",
    "MOD({n}, 4)",
    "CONCAT('order number ', {n})",
)
_SOURCE_TIMES: Final = (
    "'2026-01-01' + INTERVAL MOD({n}, 5000000) SECOND",
    "IF(MOD({n}, 4) = 0, NULL, '2026-01-02' + INTERVAL MOD({n}, 5000000) SECOND)",
)
_NAMES: Final = ("order_id", "user_id", "course_id", "amount", "status", "note", "created", "paid")
_LAKE_TIMES: Final = (
    "TIMESTAMP_NTZ'2026-01-01 00:00:00' + make_dt_interval(0, 0, 0, MOD({n}, 5000000))",
    "IF(MOD({n}, 4) = 0, NULL, TIMESTAMP'2026-01-02 00:00:00Z' + make_dt_interval(0, 0, 0, MOD({n}, 5000000)))",
)
_META: Final = (f"'{SHARD}' AS _shard", "TIMESTAMP'2026-01-02 00:00:00Z' AS _event_time", "0L AS _offset")


def is_spoiled(key: int, every: int) -> bool:
    """Whether the lake's row of that key is not the source's."""
    return key % every == every // 2


def fill_source(server: MariaDb, rows: int) -> None:
    """Rows that no binlog has."""
    values = ", ".join((*_COMMON, *_SOURCE_TIMES)).format(n="seq")
    with server.connect(DATABASE) as session, session.cursor() as sql:
        sql.execute("SET SESSION sql_log_bin = 0")
        for start in range(1, rows + 1, _AT_ONCE):
            end = min(rows, start + _AT_ONCE - 1)
            sql.execute(f"INSERT INTO {TABLE} SELECT {values} FROM seq_{start}_to_{end}")  # noqa: S608 - numbers


def fill_lake(spark: SparkSession, warehouse: Path, rows: int, every: int) -> None:
    """The same behind what capture has merged: of the spoiled a third missing, there twice, with another amount."""
    path = warehouse / ODS
    last = last_commit(path)
    if last is None:
        raise RuntimeError("capture made no table")
    own = spark.newSession()
    own.conf.set("spark.databricks.delta.commitInfo.userMetadata", replace(last.state, follows=None).to_json())
    types = dict(read_table(own, path).dtypes)
    spoiled, kind = f"MOD(id, {every}) = {every // 2}", f"MOD(id DIV {every}, 3)"
    copies = f"CASE WHEN {spoiled} AND {kind} = 0 THEN 0 WHEN {spoiled} AND {kind} = 1 THEN 2 ELSE 1 END"
    values = dict(zip(_NAMES, (text.format(n="id") for text in (*_COMMON, *_LAKE_TIMES)), strict=True))
    values["amount"] = f"{values['amount']} + IF({spoiled} AND {kind} = 2, 1, 0)"
    with settings(own, COMPILED):
        (
            own.range(1, rows + 1, numPartitions=max(2, rows // _AT_ONCE))
            .selectExpr("id", f"explode(array_repeat(1, {copies})) AS copy")
            .selectExpr(*(f"CAST({sql} AS {types[name]}) AS {name}" for name, sql in values.items()), *_META)
            .write.format("delta")
            .mode("append")
            .save(str(path))
        )
