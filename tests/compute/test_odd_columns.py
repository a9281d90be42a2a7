"""Queries whose columns have odd names or types are computed, profiled and shown on the second day as on the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import MONDAY, SALES, TUESDAY, computer, fill, rows
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DECLARED = "period: day\ndepends_on: [{entity: sales, offset: Set 0}]\nquality: [{row_count: {min: 1}}]\n"


DOTTED = "count(*) AS `orders.n`, sum(amount) AS `orders.sum`, named_struct('sum', sum(amount)) AS orders"
OTHERS = """array(named_struct('x', max(id))) AS v, 'flat' AS `v.list.element.x`, map('k', max(id)) AS m,
    'flat' AS `m.key_value.key`, NULL AS note, 1 AS `dash-ed`, 2 AS `1st`, 3 AS `é`, 4 AS `a``b`, 5 AS `sele%ct`"""


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        pytest.param(DOTTED, (1, 7, {"sum": 7}), marks=pytest.mark.long, id="dotted"),
        pytest.param(OTHERS, ([{"x": 4}], "flat", [("k", 4)], "flat", None, 1, 2, 3, 4, 5), id="others"),
    ],
)
def test_odd_columns(spark: SparkSession, tmp_path: Path, columns: str, values: tuple[Any, ...]) -> None:
    query = f"SELECT {columns} FROM sales WHERE dt = :biz_date\n"  # noqa: S608 - a test's own
    warehouse = small_warehouse(tmp_path, {"odd": (DECLARED, query)})
    fill(spark, warehouse, SALES)
    for day in (MONDAY, TUESDAY):
        (done,) = computer(spark, warehouse).compute([Slice("odd", str(day))])
        assert done.audit.figures is not None
        assert done.sample is not None
        sample = done.sample.drop_columns("dt")
        assert [tuple(row.values()) for row in sample.to_pylist()] == rows(warehouse, "odd", day)
    assert rows(warehouse, "odd", TUESDAY) == [values]
