"""A code location of small assets: as many pairs of a feed and what is computed of it as are declared.

They do nothing, or are what the warehouse makes of a declaration: a partition of a Delta table, written by Spark.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dagster.assets import build_assets
from tidemark.dagster.partitions import partitions_definition
from tidemark.dagster.resources import engine_resources
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

MODULE: Final = "benchmarks.launch.location"
FOLDER: Final = "declared"
START: Final = "2026-03-01"
SENSOR: Final = "TIDEMARK_BENCHMARK_SENSOR"
"""Whether the location has the readiness sensor."""
SPARK: Final = "TIDEMARK_BENCHMARK_SPARK"
"""Whether its assets are computed by Spark."""
_PREFIX: Final = "small_"
_SQL: Final = "SELECT explode(sequence(1, 1000)) AS id, 'of a day' AS what\n"


def write_declarations(data: Path, pairs: int) -> None:
    """`feed_0` and `small_0`, which reads it, and so on."""
    folder = data / FOLDER / "ads"
    folder.mkdir(parents=True)
    (data / FOLDER / "project.yaml").write_text(f"{{time_zone: Europe/Paris, start: {START}}}")
    for number in range(pairs):
        (folder / f"feed_{number}.yaml").write_text("{period: day, kind: Virtual}")
        (folder / f"feed_{number}.sql").write_text("SELECT 1 AS id\n")  # its columns
        (folder / f"small_{number}.yaml").write_text(f"{{period: day, depends_on: [feed_{number}]}}")
        (folder / f"small_{number}.sql").write_text(_SQL)


def declared_warehouse() -> Warehouse:
    """What was declared below the data folder that the environment names."""
    settings = Settings.load(os.environ)
    return load_warehouse(settings, settings.data / FOLDER)


@dg.definitions
def definitions() -> dg.Definitions:
    """An asset for each entity that is computed."""
    warehouse = declared_warehouse()
    names = [name for name in warehouse.entities if name.startswith(_PREFIX)]
    is_real = bool(os.environ.get(SPARK))
    assets = _real_assets(warehouse) if is_real else [_asset(warehouse, name) for name in names]
    sensors = [readiness_sensor(warehouse)] if os.environ.get(SENSOR) else []
    resources = engine_resources(warehouse.settings)
    return dg.Definitions(assets=assets, sensors=sensors, resources=resources, executor=dg.in_process_executor)


def _real_assets(warehouse: Warehouse) -> list[dg.AssetsDefinition]:
    built = build_assets(warehouse)
    return [asset for asset in built if asset.key.to_user_string().startswith(_PREFIX)]


def _asset(warehouse: Warehouse, name: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        partitions_def=partitions_definition(warehouse.entities[name], warehouse.graph),
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def compute() -> None: ...

    return compute
