"""The whole workload as a stream of changes in the order of time: pure, and the same for the same settings."""

from __future__ import annotations

import random
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import attendance, clock, edges, lessons, orders, people
from tests.components.workload.profile import moments
from tests.components.workload.schema import (
    COUPON_DAY,
    COUPON_DDL,
    COUPON_TIMES,
    DATABASE,
    INSTANCES,
    ORDERS,
    Instance,
    creation,
)
from tests.components.workload.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.components.workload.changes import Change, Settings

# Beats within seconds of each full minute, so each slice can be closed seconds after its end.
_BEAT_SECOND: dict[Instance, int] = {"a": 3, "b": 6}
_LAST_BEATS = 3
_IMPORT_SECONDS = 1_800


def end_of(settings: Settings) -> int:
    """The instant at which the last played day ends; after it come only a few heartbeats."""
    return clock.midnight(settings.first_day + timedelta(days=settings.days))


def last_beat(settings: Settings, instance: Instance) -> int:
    """The instant of the last change of an instance: when it has arrived, everything has."""
    return end_of(settings) + (_LAST_BEATS - 1) * clock.MINUTE + _BEAT_SECOND[instance]


def plan(settings: Settings) -> Iterator[Change]:
    """Play the company: first its tables, then day by day; ends with a few heartbeats past the last midnight."""
    world = World(settings, random.Random(settings.seed))
    start = clock.midnight(settings.first_day)
    for instance in INSTANCES:
        world.schedule(start, None, partial(_create_tables, world, instance))
        world.schedule(start + _BEAT_SECOND[instance], None, partial(_beat, world, instance))
    people.import_users(world)
    world.schedule(start + 20, "courses", partial(lessons.import_courses, world))
    for day in world.days:
        _plan_day(world, day)
    yield from world.run(end_of(settings))
    yield from _closing_beats(world)


def _create_tables(world: World, instance: Instance, _meant_for: int) -> None:
    world.change_schema(instance, None, f"CREATE DATABASE {DATABASE}")
    for table, ddl in creation(instance):
        world.change_schema(instance, table, ddl)


def _beat(world: World, instance: Instance, meant_for: int) -> None:
    _beat_once(world, instance, meant_for)
    world.schedule(meant_for + clock.MINUTE, None, partial(_beat, world, instance))


def _beat_once(world: World, instance: Instance, _meant_for: int) -> None:
    world.beat(instance)


def _closing_beats(world: World) -> Iterator[Change]:
    """Nothing else happens any more, whatever is still on the agenda."""
    closing = World(world.settings, world.rng, rows=world.rows)
    for instance in INSTANCES:
        for number in range(_LAST_BEATS):
            at = end_of(world.settings) + number * clock.MINUTE + _BEAT_SECOND[instance]
            closing.schedule(at, None, partial(_beat_once, closing, instance))
    yield from closing.run(last_beat(world.settings, "b") + 1)


def _plan_day(world: World, day: date) -> None:
    """Put a day's beginning on the agenda, so that each day is planned from what is known then."""
    first, start = day == world.settings.first_day, clock.midnight(day)
    opens = start + (_IMPORT_SECONDS if first else 0)
    if first:
        world.schedule(opens, None, partial(orders.import_orders, world))
        for early in (day, day + timedelta(days=1)):
            world.schedule(opens + 60, "lessons", partial(lessons.schedule_lessons, world, early))
        world.schedule(opens + 120, None, partial(lessons.assign_seats, world, day, clock.HOUR))
    world.schedule(opens, None, partial(_open_day, world, day))
    afternoon = clock.at_hour(day, 14)
    world.schedule(afternoon, "lessons", partial(lessons.schedule_lessons, world, day + timedelta(days=2)))
    evening = clock.at_hour(day, 17, 30)
    world.schedule(evening, None, partial(lessons.assign_seats, world, day + timedelta(days=1), 3 * clock.HOUR))
    world.schedule(clock.at_hour(day, 7), None, partial(attendance.correct_day, world, day))
    if day == COUPON_DAY:
        _plan_coupons(world)


def _open_day(world: World, day: date, _meant_for: int) -> None:
    people.plan_day(world, day)
    orders.plan_day(world, day)
    edges.plan_day(world, day)
    for half_hour in range(clock.at_hour(day, 8), clock.at_hour(day, 21), clock.HOUR // 2):
        world.schedule(half_hour, None, partial(lessons.welcome, world, day))
    for at in moments(world.rng, day, 2):
        world.schedule(at, "courses", partial(lessons.change_price, world))


def _plan_coupons(world: World) -> None:
    """The column that the application gained on the fourth day, shard by shard."""
    for table, time in zip(ORDERS.physical, COUPON_TIMES, strict=True):
        ddl = COUPON_DDL.format(table=table)
        at = clock.at_hour(COUPON_DAY, *time)
        world.schedule(at, table, partial(_add_coupons, world, table, ddl))


def _add_coupons(world: World, table: str, ddl: str, _meant_for: int) -> None:
    world.add_coupon_column(table, ddl)
