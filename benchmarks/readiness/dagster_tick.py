"""For comparison: one tick of Dagster's own declarative automation over a thousand eager assets, nothing new in it."""

from __future__ import annotations

import time
import warnings
from datetime import UTC, datetime
from typing import Final

import dagster as dg

_ASSETS: Final = 1_000


def tick_ms() -> float:
    """Milliseconds of processor time of the second evaluation: the first one looks at everything for the first time."""
    daily = dg.DailyPartitionsDefinition("2024-06-01", end_date="2024-07-10")

    def asset(number: int) -> dg.AssetsDefinition:
        @dg.asset(
            name=f"asset_{number}",
            partitions_def=daily,
            deps=[f"asset_{number - 1}"] if number % 10 else [],
            automation_condition=dg.AutomationCondition.eager(),
        )
        def compute() -> None: ...

        return compute

    definitions = dg.Definitions(assets=[asset(number) for number in range(_ASSETS)])
    now = datetime(2024, 7, 1, tzinfo=UTC)
    with dg.DagsterInstance.ephemeral() as instance, warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        first = dg.evaluate_automation_conditions(definitions, instance, evaluation_time=now)
        begun = time.process_time()
        dg.evaluate_automation_conditions(definitions, instance, cursor=first.cursor, evaluation_time=now)
        return (time.process_time() - begun) * 1000
