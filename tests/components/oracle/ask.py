"""The oracle: a third MariaDB server that replicates both instances and is asked by plain SQL at each slice's end.

Nothing here shares code with the warehouse: the answers come from the database. What is asked is in the .sql files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymysql.cursors import Cursor, DictCursor

from tests.components.oracle.checksum import content
from tests.components.workload.schema import ATTENDANCE, ORDERS, TABLES
from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.mariadb import USER, MariaDb
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from datetime import date

    import pymysql

    from tests.components.oracle.slices import Period, Slice

_WAIT_SECONDS = 120
_METRICS: dict[Period, tuple[str, ...]] = {
    "hour": ("ads_live_1h",),
    "day": ("ads_attendance_rate", "ads_active_users", "ads_retention", "ads_gmv_course"),
    "week": ("ads_active_users_1w",),
    "month": ("ads_active_users_1m",),
}
# Heartbeats are on both instances under one name, and no business of the oracle's.
REPLICA_OPTIONS = (
    "--a.replicate-ignore-table=school.heartbeat",
    "--b.replicate-ignore-table=school.heartbeat",
)


@dataclass
class Oracle:
    """The replica, and the answers so far; the figures of a day are kept as they were known at its end."""

    replica: MariaDb
    sources: tuple[MariaDb, ...]
    first_day: date
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> None:
        """Replicate from the sources' first binlog record on."""
        with self.replica.connect() as session, session.cursor() as cursor:
            for source in self.sources:
                cursor.execute(
                    f"CHANGE MASTER '{source.name}' TO master_host = %s, master_port = %s, master_user = %s,"
                    " master_password = %s, master_use_gtid = slave_pos",
                    (LOOPBACK, source.port, USER, source.password),
                )
            cursor.execute("START ALL SLAVES")

    def prepare(self) -> None:
        """Create the oracle's own tables; the sources' must exist."""
        self._catch_up()
        with self.replica.connect() as session, session.cursor() as cursor:
            _run(cursor, _sql("setup"), None)

    def ask(self, own: Slice) -> None:
        """Answer for a slice; every change before its end must have been executed on the sources, and none after."""
        self._catch_up()
        with self.replica.connect() as session:
            if own.period == "day":
                with session.cursor() as cursor:
                    _run(cursor, _sql("remember_day"), {"day": own.start.date()})
            self._snapshots(session, own)
            for metric in _METRICS[own.period]:
                self.metrics.append({"entity": metric, "slice": own.name, "rows": self._rows(session, metric, own)})

    def _snapshots(self, session: pymysql.Connection[Cursor], own: Slice) -> None:
        tables = {"day": TABLES, "hour": (ORDERS, ATTENDANCE)}.get(own.period, ())
        with session.cursor() as cursor:
            for table in tables:
                answer = content(cursor, table)
                self.snapshots.append(
                    {
                        "table": table.name,
                        "period": own.period,
                        "slice": own.name,
                        "rows": answer.rows,
                        "checksum": answer.checksum,
                        "columns": list(answer.columns),
                    }
                )

    def _rows(self, session: pymysql.Connection[Cursor], metric: str, own: Slice) -> list[dict[str, Any]]:
        named = {"day": own.start.date(), "hour": own.start, "first_day": self.first_day}
        with session.cursor(DictCursor) as cursor:
            # Quotients keep all their digits until the one rounding.
            cursor.execute("SET div_precision_increment = 30")
            cursor.execute(_sql(metric), named)
            return [{name: _plain(value) for name, value in row.items()} for row in cursor.fetchall()]

    def _catch_up(self) -> None:
        """Wait until the replica has executed everything that the sources have."""
        positions = []
        for source in self.sources:
            with source.connect() as session, session.cursor() as cursor:
                cursor.execute("SELECT @@gtid_binlog_pos")
                positions.append(str(cursor.fetchall()[0][0]))
        with self.replica.connect() as session, session.cursor() as cursor:
            cursor.execute("SELECT MASTER_GTID_WAIT(%s, %s)", (",".join(positions), _WAIT_SECONDS))
            if cursor.fetchall()[0][0] != 0:
                raise ComponentFailedError("the oracle", f"did not reach {positions}", self.replica.server.log_tail())


def _sql(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text()


def _run(cursor: Cursor, sql: str, named: dict[str, Any] | None) -> None:
    cursor.execute(sql, named)
    while cursor.nextset():
        pass


def _plain(value: object) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"a metric of type {type(value).__name__}: expected a count or a decimal, found {value!r}")
