"""When people do what: the daily cycle and the weekly one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.components.workload import clock

if TYPE_CHECKING:
    import random
    from datetime import date

# Relative activity in each wall-clock hour: asleep, a lunch peak, an evening peak.
_HOURLY = (0.5, 0.3, 0.2, 0.15, 0.15, 0.3, 1, 2, 3, 3.5, 4, 4.5, 6, 5, 4, 4.5, 6, 8, 9, 10, 10, 8, 4, 1.5)
# Monday to Sunday; no school on Wednesday afternoons and at the weekend, so people learn and buy more.
_WEEKDAY = (1.0, 0.95, 1.2, 0.97, 0.9, 1.25, 1.05)


def weekday_factor(day: date) -> float:
    """How busy a day is; 1.0 = a Monday."""
    return _WEEKDAY[day.weekday()]


def moments(rng: random.Random, day: date, count: int) -> list[int]:
    """`count` instants of a day, as dense as people are active, in order."""
    starts = clock.hours(day)
    weights = [_HOURLY[clock.wall(start).hour] for start in starts]
    chosen = rng.choices(starts, weights, k=count)
    return sorted(start + rng.randrange(clock.HOUR) for start in chosen)
