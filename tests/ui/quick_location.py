"""A code location whose assets compute in no time, with the readiness sensor as `tidemark up` has it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import dagster as dg

from tests.until import until
from tidemark.dagster.partitions import partitions_definition
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

DECLARED: Final = {
    "project.yaml": "{time_zone: Europe/Paris, start: 2026-03-23}",
    "ads/feed.yaml": "{period: day, kind: Virtual}",
    "ads/totals.yaml": "{period: day, depends_on: [feed]}",
    "ads/published.yaml": "{period: day, depends_on: [totals]}",
    "ads/compared.yaml": "{period: day, depends_on: [totals, {entity: feed, offset: 'Set -1,0'}]}",
    "ads/lasting.yaml": "{period: day, depends_on: [feed]}",
}
HOLD: Final = "lasting.hold"
"""While the data folder has this file, runs of `lasting` go on."""
_FOLDER: Final = "declared"


def write_declarations(data: Path) -> None:
    """The entities, in a folder beside the data."""
    for name, text in DECLARED.items():
        file = data / _FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if "depends_on" in text:
            file.with_suffix(".sql").write_text("SELECT 1 AS id\n")


@dg.definitions
def definitions() -> dg.Definitions:
    """The entities that are computed, each as an asset of its own."""
    settings = Settings.load(os.environ)
    warehouse = load_warehouse(settings, settings.data / _FOLDER)
    computed = [_asset(warehouse, name) for name in ("totals", "published", "compared")]
    computed.append(_lasting(warehouse, settings.data / HOLD))
    return dg.Definitions(assets=computed, sensors=[readiness_sensor(warehouse)])


def _asset(warehouse: Warehouse, name: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        partitions_def=partitions_definition(warehouse.entities[name], warehouse.graph),
        backfill_policy=None if name == "totals" else dg.BackfillPolicy.single_run(),
        deps=[] if name == "totals" else ["totals"],
    )
    def compute() -> None: ...

    return compute


def _lasting(warehouse: Warehouse, hold: Path) -> dg.AssetsDefinition:
    @dg.asset(name="lasting", partitions_def=partitions_definition(warehouse.entities["lasting"], warehouse.graph))
    def compute() -> None:
        until(lambda: not hold.exists(), "the end of the hold")

    return compute
