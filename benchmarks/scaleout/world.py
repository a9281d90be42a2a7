"""A small lake, on disk or in an object store: slices that read a table, and a captured table."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.compute.runtime import Runtime
from tidemark.compute.vacuum import vacuum_entity
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.retention import Retention
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport
    from tidemark.system.table_location import ObjectLocation

_FIRST: Final = date(2026, 1, 1)
_PROJECT: Final = f"time_zone: UTC\nstart: {_FIRST}\nowner: data@school.example\n"
_TOTALS: Final = """
period: day
depends_on: [{entity: sales, offset: Set 0}]
quality:
  - unique: [region]
  - not_null: [region]
  - row_count: {min: 1, max: 3}
  - reconcile: {value: sum(amount), equals: "SELECT sum(amount) FROM sales WHERE dt = :biz_date"}
"""
_DECLARED: Final = {
    "sales": ("period: day\n", "SELECT 1 AS id, 10 AS amount, 'cn' AS region WHERE 1 = 0\n"),
    "totals": (_TOTALS, "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date GROUP BY region\n"),
}
_TABLE: Final = SourceTable(
    "ods_orders",
    "school.orders_*",
    ("a",),
    ("order_id",),
    "order_date",
    (("ods_orders", "day", str(_FIRST)),),
)
_ROWS: Final = 200
_CHANGES: Final = 20


@dataclass
class SmallLake:
    """`folder` has what stays on disk, and without a `lake` in an object store the tables, too."""

    runtime: Runtime
    stream: Stream = field(default_factory=lambda: Stream("a"))
    landed: int = 0
    orders: int = 0

    @classmethod
    def at(cls, folder: Path, lake: ObjectLocation | None = None) -> SmallLake:
        """Declared, and nothing in it."""
        declared = folder / "declared"
        (declared / "ads").mkdir(parents=True)
        (declared / "project.yaml").write_text(_PROJECT)
        for name, (yaml, sql) in _DECLARED.items():
            (declared / "ads" / f"{name}.yaml").write_text(yaml)
            (declared / "ads" / f"{name}.sql").write_text(sql)
        places = {} if lake is None else {"warehouse": lake}
        return cls(Runtime(load_warehouse(Settings.at(folder / "data", **places), declared)))

    def start(self) -> SparkSession:
        """Spark's session, as the first slice of a process has it started."""
        return self.runtime.spark

    def begin(self) -> None:
        """Process-wide objects, and the first day of each table."""
        self.computer = self.runtime.computer()
        settings = self.runtime.warehouse.settings
        self.ingestion = Ingestion(self.runtime.spark, settings, [_TABLE], self.runtime.registry)
        self.stream.declare("orders_0", ORDERS, at(f"{_FIRST} 00:01"))
        self.change(_ROWS)
        self.merge()

    def fill(self, number: int) -> None:
        """The input of a day's slice."""
        day = self._day(number)
        rows = self.runtime.spark.sql(
            "SELECT id, id % 7 AS amount, IF(id % 2 = 0, 'cn', 'eu') AS region FROM range(100)"
        )
        replace_partition(rows, self.runtime.warehouse.table_path("sales"), {"dt": day})

    def compute(self, number: int) -> None:
        """The day's slice. Raises RuntimeError where it was not published."""
        (done,) = self.computer.compute([Slice("totals", str(self._day(number)))])
        if not done.is_published or done.metrics.rows != 2:
            raise RuntimeError(f"the slice is not as it has to be: {done}")

    def change(self, count: int = _CHANGES) -> None:
        """A file of new orders lands, with as many updates of old ones."""
        when = at(f"{_FIRST} 10:00") + timedelta(seconds=self.landed)
        for _ in range(count):
            self.orders += 1
            self.stream.change("orders_0", None, order(self.orders, "10.00", 1), when)
            if self.orders > _ROWS:
                old = order(self.orders - _ROWS, "10.00", 1)
                self.stream.change("orders_0", old, {**old, "amount": "11.00"}, when)
        self._land()

    def pass_day(self, number: int) -> None:
        """A heartbeat lands that is behind a day's end: the next step names its snapshot."""
        self.stream.heartbeat(at(f"{self._day(number + 1)} 00:30"))
        self._land()

    def merge(self) -> IngestReport:
        """Take in what landed. Raises RuntimeError where that is not one commit."""
        report = self.ingestion.step()
        if report.commits != 1:
            raise RuntimeError(f"one commit was to be made: {report}")
        return report

    def vacuum(self) -> None:
        """Of the captured table; nothing is old enough to go."""
        vacuum_entity(self.runtime.warehouse, self.runtime.registry, "totals", Retention())

    def _land(self) -> None:
        self.stream.land(self.runtime.warehouse.settings.landing, self.landed)
        self.landed = len(self.stream.lines)

    @staticmethod
    def _day(number: int) -> date:
        return _FIRST + timedelta(days=number)
