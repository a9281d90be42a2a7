"""What a person sees in the Dagster UI, by a browser on the real warehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.world import FIRST_DAY

if TYPE_CHECKING:
    from tests.ui.dagster_pages import DagsterPages

pytestmark = [
    pytest.mark.components,
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group(FIRST_DAY),
    pytest.mark.timeout(1200),
]

_DAY = "2026-03-23"
_ROWS_PREVIEWED = 8


def test_assets_stand_in_their_layers(pages: DagsterPages) -> None:
    layers = {"external", "ods", "dwd", "dws", "ads"}
    pages.open_lineage()

    assert pages.groups(layers) == layers
    pages.shot("lineage")
    pages.show_assets("ads_gmv_course", "ods_orders")
    pages.shot("catalog")


def test_a_partitions_page_tells_of_that_partition(pages: DagsterPages) -> None:
    """Its rows and its drawing are seen without a button; `test_every_asset` compares the pages of two days."""
    pages.open_partition("ads_gmv_course", _DAY)
    pages.until("the metadata", lambda: "column_schema" in pages.text())
    assert pages.text().count(_DAY) > _ROWS_PREVIEWED
    assert pages.drawings() == 1
    pages.shot("partition")
