"""Every asset is backfilled from the catalog, in the UI on the whole recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.components.availability import require
from tests.ui.browser import CHROMIUM
from tests.ui.tidemark import RunningUi, tidemark_up
from tests.world import WHOLE
from tidemark.dagster.assets import build_assets
from tidemark.system.settings import Settings
from tidemark.warehouse.dagster_partition_keys import period_of
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.dagster_pages import DagsterPages
    from tests.ui.dagster_runs import RunsByGraphql
    from tests.world import DemoWorld

pytestmark = [
    pytest.mark.components,
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group(WHOLE),
    pytest.mark.timeout(2400),
]

_RUN_SECONDS = 240.0
_ROWS = 8
"""The catalog draws the rows alone that are in sight."""
_BACKFILL_SECONDS = 420.0


@pytest.fixture(scope="module")
def ui(whole_demo_world: DemoWorld) -> Iterator[RunningUi]:
    require(CHROMIUM)
    with tidemark_up(whole_demo_world.world) as running:
        yield running


@pytest.mark.parametrize("period", ["hour", "day", "week", "month"])
def test_every_asset_is_backfilled_from_the_catalog(pages: DagsterPages, runs: RunsByGraphql, period: str) -> None:
    """The last two partitions of each asset, those with the same partitions launched together."""
    for names, keys in _launched_together(period):
        known_runs, known_backfills = set(runs.runs()), set(runs.backfills())
        before = {name: runs.materialized_at(name, keys) for name in names}

        pages.materialize_from_catalog(f"[{keys[0]}...{keys[-1]}]" if len(keys) > 1 else keys[0], *names)
        if len(keys) > 1:
            runs.new_backfill_succeeds(known_backfills, _BACKFILL_SECONDS)
        else:
            runs.new_run_succeeds(known_runs, _RUN_SECONDS)

        for name in names:
            after = runs.materialized_at(name, keys)
            assert all(after[key] > before[name][key] for key in keys), (name, before, after)


def _launched_together(period: str) -> list[tuple[list[str], list[str]]]:
    """Assets of a period by their partitions, as many as a page shows: (names, the last two keys).

    Those with regions are asked for two dimensions: another test.
    """
    warehouse = load_warehouse(Settings.load())
    by_partitions: dict[tuple[str, ...], list[str]] = {}
    for asset in build_assets(warehouse):
        for key in asset.keys if asset.is_materializable else ():
            name, partitions = key.to_user_string(), asset.partitions_def
            if isinstance(partitions, dg.MultiPartitionsDefinition):
                continue
            assert isinstance(partitions, dg.TimeWindowPartitionsDefinition)
            if period_of(warehouse.graph, name.removeprefix("olap_")) == period:
                by_partitions.setdefault(tuple(partitions.get_partition_keys()[-2:]), []).append(name)
    return [
        (names[start : start + _ROWS], list(keys))
        for keys, names in by_partitions.items()
        for start in range(0, len(names), _ROWS)
    ]
