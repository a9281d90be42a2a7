"""The readiness sensor: the dependency center inside Dagster's daemon, by default under `tidemark up`."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.sensor_host import SensorHost
from tidemark.dagster.sensors.waiting import WaitingSlices, observations
from tidemark.errors import TransientError

if TYPE_CHECKING:
    from tidemark.warehouse.warehouse import Warehouse

NAME: Final = "readiness"
_SECONDS: Final = 5


def readiness_sensor(warehouse: Warehouse) -> dg.SensorDefinition:
    """A sensor that starts each slice when its last input is complete, once."""

    @lru_cache(maxsize=1)
    def host() -> SensorHost:
        return SensorHost(warehouse)

    @dg.sensor(
        name=NAME,
        description="Starts each slice when its last input is complete - once, never early.",
        asset_selection=dg.AssetSelection.all(),
        minimum_interval_seconds=_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            center = host()
            requests = center.tick(context.instance)
        except TransientError as error:
            return dg.SkipReason(f"tried again at the next tick: {error}")
        if center.is_standing_by:
            return dg.SkipReason(center.summary())
        waiting = WaitingSlices.of(center.center, datetime.now(UTC))
        changed = observations(warehouse.graph, waiting.changed(context.cursor))
        skipped = "; ".join(filter(None, [center.summary(), waiting.summary()]))
        return dg.SensorResult(
            run_requests=requests or None,
            skip_reason=None if requests else skipped,
            asset_events=changed,
            cursor=waiting.cursor(),
        )

    return evaluate
