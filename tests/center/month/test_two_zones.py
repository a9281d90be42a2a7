"""Both hosts ask Dagster for the slices between two time zones, and Dagster materializes each of them."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Final

import dagster as dg
import pytest

from tests.center.month.hosts import HOSTS, DagsterRuns, Host
from tests.dagster.test_two_time_zones import PAIRS, REFUSED
from tests.dependency_model.random_offset import random_offset
from tests.examples import each
from tests.seeds import chunks
from tidemark.dagster.mappings import partition_mapping
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.time import Period
from tidemark.system.settings import Settings
from tidemark.warehouse.dagster_partition_keys import partition_of
from tidemark.warehouse.warehouse import Warehouse, load_warehouse
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tidemark.dependency_model.slice import Slice

PROJECT = "start: 2026-03-27\nend: 2026-03-31\n"
"""The clocks of Europe change in it."""
NOW = datetime(2026, 4, 2, tzinfo=UTC)
PERIODS = [Period.HOUR, Period.DAY, Period.DAY]
RUN_OF: Final = 8
"""One of so many slices is a run of Dagster: an entity of hours has a hundred."""


class MaterializedRuns(DagsterRuns):
    """Some slices that a host asks for are runs of Dagster, with the mapping that the project gives them.

    The other ones are reported as runs that ended.
    """

    def __init__(self, warehouse: Warehouse, instance: dg.DagsterInstance) -> None:
        super().__init__(instance)
        self._entities = warehouse.entities
        up, down = self._entities["up"], self._entities["down"]
        dep = dg.AssetDep("up", partition_mapping=partition_mapping(up, down).built_in)

        @dg.asset(name="down", partitions_def=partitions_definition(down, warehouse.graph), deps=[dep])
        def computed() -> None:
            pass

        self._assets: list[dg.AssetSpec | dg.AssetsDefinition] = [
            dg.AssetSpec("up", partitions_def=partitions_definition(up, warehouse.graph)),
            computed,
        ]
        self.done: set[Slice] = set()

    def arrive(self, slice_: Slice) -> None:
        told = dg.AssetMaterialization(slice_.entity, partition=partition_of(self._entities[slice_.entity], slice_))
        self.instance.report_runless_asset_event(told)

    def begin(self, asked: str, slices: Sequence[Slice]) -> None:
        new = [slice_ for slice_ in slices if slice_ not in self.done]
        self.done.update(new)
        for slice_ in new[::RUN_OF]:
            key = partition_of(self._entities["down"], slice_)
            tags = {RUN_TAG: asked}
            run = dg.materialize(self._assets, instance=self.instance, partition_key=key, selection="down", tags=tags)
            assert run.success
        others = [slice_ for at, slice_ in enumerate(new) if at % RUN_OF]
        super().begin(asked, others)
        for slice_ in others:
            self.end(slice_)


def declare(folder: Path, seed: int) -> Warehouse:
    random, (up_zone, down_zone) = Random(seed), PAIRS[seed % len(PAIRS)]
    up_period, down_period = (
        random.choice([period for period in PERIODS if (zone, period) not in REFUSED]) for zone in (up_zone, down_zone)
    )
    offset = random_offset(random, down_period, up_period, 2026, one_clock=False)
    root = folder / "declared"
    (root / "ads").mkdir(parents=True)
    (root / "project.yaml").write_text(PROJECT)
    (root / "ads" / "up.yaml").write_text(f"{{period: {up_period}, time_zone: '{up_zone}', kind: Virtual}}")
    needs = f'depends_on: [{{entity: up, offset: "{offset}"}}]'
    (root / "ads" / "down.yaml").write_text(
        f"{{period: {down_period}, time_zone: '{down_zone}', holidays: FR, {needs}}}"
    )
    (root / "ads" / "down.sql").write_text("SELECT 1 AS x FROM up")
    return load_warehouse(Settings.at(folder / "data").model_copy(update={"pools": "default=1000"}), root)


def materialize(folder: Path, host: str, seed: int) -> int:
    """Let a host run all that is ready; the number of slices that Dagster materialized."""
    warehouse = declare(folder, seed)
    graph = warehouse.graph
    arrived = {*graph.slices("up", until=NOW)}
    ready = {
        slice_
        for slice_ in graph.slices("down", until=NOW)
        if all(needed in arrived for need in graph.requirements(slice_) for needed in need.slices)
    }
    with dg.DagsterInstance.ephemeral(str(folder)) as instance:
        runs = MaterializedRuns(warehouse, instance)

        def play() -> Iterator[str | None]:
            for slice_ in arrived:
                runs.arrive(slice_)
            yield from [None] * 4

        HOSTS[host](warehouse, runs, play(), Host())
    assert runs.done == ready, f"seed {seed}"
    return len(ready)


@pytest.mark.slow
@pytest.mark.parametrize("host", each(2, HOSTS))
def test_a_host_has_a_slice_between_two_zones_materialized(tmp_path: Path, host: str) -> None:
    assert materialize(tmp_path, host, 3) > 0


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("seed", chunks(0, 1, len(PAIRS)))
def test_each_host_has_each_pair_of_zones_materialized(tmp_path: Path, host: str, seed: int) -> None:
    materialize(tmp_path, host, seed)
