"""Tables that are declared later, in SQL and in Python, are computed for the past by the center that reloads them.

The same under a real `tidemark up`: tests/end_to_end/test_added_tables.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.world import PROJECT, RunningWarehouse, declare, running
from tidemark.compute.function_reads import read_with_dry_runs
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = "2026-03-23", "2026-03-24"
FIRST = {"clicks.yaml": "kind: Virtual\nperiod: day\n"}
ADDED = {
    "counted.yaml": "period: day\n",
    "counted.sql": "SELECT sum(n) AS n FROM clicks WHERE dt = :biz_date\n",
    "doubled.yaml": "period: day\n",
    "doubled.py": (
        "from pyspark.sql import functions as F\n\n\n"
        "def compute(counted, *, biz_date):\n"
        "    return counted.where(F.col('dt') == F.lit(biz_date)).select((F.col('n') * 2).alias('n'))\n"
    ),
}


@pytest.mark.long
def test_tables_that_are_added_are_computed_for_the_past(spark: SparkSession, tmp_path: Path) -> None:
    with running(spark, tmp_path, FIRST) as before:
        for day, n in ((MONDAY, 3), (TUESDAY, 4)):
            before.arrive(f"clicks@{day}", [(n,)], "n INT")
        assert before.run() == []
        root, settings = declare(tmp_path, ADDED, PROJECT), before.warehouse.settings
        checked = read_with_dry_runs(root, settings)
        assert [*checked.problems, *checked.differences] == []
        after = RunningWarehouse(spark, load_warehouse(settings, root), before.instance)
        after.run()
        assert [after.rows(f"counted@{day}") for day in (MONDAY, TUESDAY)] == [[(3,)], [(4,)]]
        assert [after.rows(f"doubled@{day}") for day in (MONDAY, TUESDAY)] == [[(6,)], [(8,)]]
