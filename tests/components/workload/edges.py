"""What hurts, put on the agenda by hand: the seconds around each midnight and around the spring change, and the rest.

The random part of the workload has most of these too; here they are certain, whatever the seed and the size.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import attendance, clock, orders, texts
from tests.components.workload.schema import ATTENDANCE, SHARDS

if TYPE_CHECKING:
    from tests.components.workload.world import World

_SPRING_CHANGE = clock.at_hour(date(2026, 3, 29), 3)


def plan_day(world: World, day: date) -> None:
    """The certain edges of a day; to be called when its users are known."""
    if not world.engagement:
        return
    _around(world, clock.midnight(day + timedelta(days=1)))
    start = clock.midnight(day)
    if start < _SPRING_CHANGE < clock.midnight(day + timedelta(days=1)):
        _around(world, _SPRING_CHANGE)
    for hour in clock.hours(day):
        _in_each_hour(world, hour)
    for number, note in enumerate(texts.HARD_NOTES):
        orders.place(world, _user(world, number % SHARDS), start + (9 + number // 2) * clock.HOUR + number, note=note)
    for shard in range(SHARDS):
        _one_shard(world, start + 8 * clock.HOUR + shard, shard)


def _user(world: World, shard: int) -> int:
    return world.rng.choice([user for user in world.engagement if user % SHARDS == shard])


def _around(world: World, border: int) -> None:
    """Orders and payments in the last second before a border, on it, and in the first second after it."""
    for shard in range(SHARDS):
        for seconds in (-1, 0, 1):
            orders.place(world, _user(world, shard), border + seconds, (0, orders.pay))
        orders.place(world, _user(world, shard), border - 1, (1, orders.pay), (2, orders.move_date))
        orders.place(world, _user(world, shard), border - 30, (32, orders.pay_written_late))
        orders.place(world, _user(world, shard), border - 2, (0, orders.pay), (1, orders.remove_and_insert_again))
    for shard, table in enumerate(ATTENDANCE.physical):
        for seconds in (-1, 0, 1):
            world.schedule(border + seconds + shard % 2, table, partial(attendance.late_change, world, table))


def _in_each_hour(world: World, hour: int) -> None:
    """Something happens in every hour of the night, too, in orders and in attendance."""
    for table in world.rng.sample(ATTENDANCE.physical, 2):
        world.schedule(hour + world.rng.randrange(clock.HOUR), table, partial(attendance.late_change, world, table))
    # On instance a, none of whose shards of orders is ever silent.
    orders.place(world, _user(world, world.rng.randrange(2)), hour + world.rng.randrange(60, clock.HOUR - 60))


def _one_shard(world: World, at: int, shard: int) -> None:
    """Deleted and inserted again in one second; moved to another date; deleted for good."""
    orders.place(world, _user(world, shard), at, (60, orders.pay), (3_600, orders.remove_and_insert_again))
    orders.place(world, _user(world, shard), at, (900, orders.move_date), (4_000, orders.move_date))
    orders.place(world, _user(world, shard), at, (60, orders.pay), (20 * clock.HOUR, orders.remove))
