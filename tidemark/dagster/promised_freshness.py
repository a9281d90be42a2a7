"""An external asset's promise (`ready_by`) as a Dagster freshness policy, which Dagster's daemon evaluates."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity

_SHORTEST: Final = timedelta(minutes=1)


def promised_freshness(entity: Entity) -> dg.FreshnessPolicy | None:
    """The policy that the day's slice is there by the promised time, after the day's end.

    Only days have a policy, because their promise is a time of each day. Other periods only have the check of the
    promise. An ended entity has no slice of today.
    """
    if entity.ready_by is None or entity.period is not Period.DAY or entity.end is not None:
        return None
    hour, minute = map(int, entity.ready_by.split(":"))
    after = max(_SHORTEST, timedelta(hours=hour, minutes=minute))
    return dg.FreshnessPolicy.cron(f"{minute} {hour} * * *", after, entity.time_zone)
