"""The readiness sensor: the dependency center inside Dagster's daemon, the default under `tidemark up`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.sensor_host import SensorHost
from tidemark.dagster.sensors.lateness import late_observations, late_slices, promised_entities
from tidemark.dagster.sensors.waiting_slices import WaitingSlices, observations
from tidemark.errors import TransientError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.warehouse.warehouse import Warehouse

NAME: Final = "readiness"
_SECONDS: Final = 5


def readiness_sensor(warehouse: Warehouse) -> dg.SensorDefinition:
    """A sensor that starts each slice once, when its last input is complete."""
    promised = promised_entities(warehouse)

    @lru_cache(maxsize=1)
    def host() -> SensorHost:
        return SensorHost(warehouse)

    @dg.sensor(
        name=NAME,
        description="Starts each slice once, when its last input is complete.",
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
        now = datetime.now(UTC)
        told = json.loads(context.cursor or "{}")
        waiting = WaitingSlices.of(center.center, now)
        late = {name: late_slices(warehouse.graph, name, center.center.status, now) for name in promised}
        keys = {name: [slice_.key for slice_ in slices] for name, slices in late.items()}
        changed = {name: late[name] for name in promised if told.get("late", {}).get(name, []) != keys[name]}
        skipped = "; ".join(filter(None, [center.summary(), waiting.summary()]))
        return dg.SensorResult(
            run_requests=requests or None,
            skip_reason=None if requests else skipped,
            asset_events=[
                *observations(warehouse.graph, waiting.new_reasons(told.get("waiting", {}))),
                *late_observations(changed),
            ],
            cursor=json_text({"waiting": waiting.told_reasons(), "late": keys}),
        )

    return evaluate
