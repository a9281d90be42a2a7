"""What was inferred is kept for as long as the code that infers is the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tidemark.errors import EntityErrors
from tidemark.system.settings import Settings
from tidemark.warehouse.inference_cache import analysis_version
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path


def test_the_version_is_that_of_the_code_that_infers() -> None:
    assert analysis_version() != hashlib.sha256(b"").hexdigest()[:16], "no file was found: a cache would never be void"


@pytest.mark.parametrize(
    "condition",
    [
        "dt >= date_sub(:biz_date, 3)",
        "dt < date_sub(:biz_date, 3)",
        "dt <> :biz_date AND amount > 0",
    ],
)
def test_a_refused_query_is_refused_again(tmp_path: Path, condition: str) -> None:
    """By what was kept of the analysis, too."""
    (tmp_path / "data").mkdir()  # without one nothing is kept
    yaml, _ = DECLARED["totals"]
    sql = f"SELECT region, sum(amount) AS amount FROM sales WHERE {condition} GROUP BY region\n"  # noqa: S608 - ours
    with pytest.raises(EntityErrors) as first:
        small_warehouse(tmp_path, {"totals": (yaml, sql)})
    with pytest.raises(EntityErrors) as again:
        load_warehouse(Settings.at(tmp_path / "data"), tmp_path / "declared")
    assert "does not name all slices of sales" in str(first.value)
    assert str(again.value) == str(first.value)
