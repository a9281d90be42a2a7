"""What every program outside has to bring about: the readiness sensor asks for the run of the delivered day alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import dagster as dg

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tests.dagster.sensors.test_external_arrival import asked_for
from tests.dagster.sensors.test_readiness import runs_of
from tests.until import until
from tidemark.dagster.sensors.readiness import readiness_sensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = "2026-03-24"


def run_program(text: str, *arguments: str) -> None:
    """Another process, which knows nothing of the warehouse."""
    subprocess.run([sys.executable, "-c", text, *arguments], check=True, timeout=120)


def releases_its_day_alone(
    folder: Path,
    instance: dg.DagsterInstance,
    probe: str,
    deliver: Callable[[], None],
    rule: str = "row_count: {min: 1}",
) -> None:
    """`deliver` brings DAY; of three days that are over nothing is asked for before it, and nothing else after it."""
    sales = (
        f"period: day\nkind: Virtual\nend: 2026-03-26\nquality: [{{{rule}}}]\n"
        f"probe: {{{probe}, settle_for: 0m, fresh_for: 0m}}\n"
    )
    declared = {name: (f"{yaml}end: 2026-03-26\n", sql) for name, (yaml, sql) in DECLARED.items()}
    warehouse = small_warehouse(folder, {**declared, "sales": (sales, DECLARED["sales"][1])})
    sensor = readiness_sensor(warehouse)
    assert not any(asked_for(sensor, instance) for _ in range(3))
    deliver()
    later = readiness_sensor(warehouse)  # the first one has looked, and would not look again for some minutes
    assert runs_of(until(lambda: asked_for(later, instance), "the run of the day")) == [("totals", DAY)]
    again = runs_of([request for _ in range(3) for request in asked_for(later, instance)])
    assert set(again) <= {("totals", DAY)}, "the same until it is launched, and no other"
    assert DAY in instance.get_materialized_partitions(dg.AssetKey(["sales"]))
