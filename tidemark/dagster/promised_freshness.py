"""What is promised of an external asset (`ready_by`) as Dagster's freshness policy, which its daemon judges."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity

_SHORTEST: Final = timedelta(minutes=1)


def promised_freshness(entity: Entity) -> dg.FreshnessPolicy | None:
    """The day's slice is there by the time that is promised, and not before the day is over.

    Only days, whose promise is a time of each day: of other periods the check of the promise alone is told. An entity
    that has ended has no slice of today.
    """
    if entity.ready_by is None or entity.period is not Period.DAY or entity.end is not None:
        return None
    hour, minute = map(int, entity.ready_by.split(":"))
    after = max(_SHORTEST, timedelta(hours=hour, minutes=minute))
    return dg.FreshnessPolicy.cron(f"{minute} {hour} * * *", after, entity.time_zone)
