"""Seats in lessons: given the evening before, joined, left, rated; moved with their lesson, removed and given again."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import clock, texts
from tests.components.workload.people import comes
from tests.components.workload.profile import weekday_factor
from tests.components.workload.schema import attendance_shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.components.workload.world import Row, World

_FIRST_SEAT = 1_000_001
_DAY = 24 * clock.HOUR


def assign(world: World, lessons: Mapping[int, Row], day: date, start: int, over_seconds: int) -> None:
    """Seats for the users that come on a day, each in lessons of courses that he or she is enrolled in."""
    takers: dict[tuple[int, str], list[int]] = defaultdict(list)
    by_course: dict[object, list[int]] = defaultdict(list)
    for lesson_id, row in lessons.items():
        by_course[row["course_id"]].append(lesson_id)
    for user_id in list(world.engagement):
        if comes(world, user_id, day):
            for lesson_id in _choose(world, user_id, by_course, day):
                takers[lesson_id, attendance_shard(user_id)].append(user_id)
    for number, ((lesson_id, table), users) in enumerate(sorted(takers.items())):
        at = start + number * over_seconds // len(takers)
        world.schedule(at, table, partial(_give_seats, world, table, lesson_id, users))


def _choose(world: World, user_id: int, by_course: Mapping[object, list[int]], day: date) -> list[int]:
    offered = [lesson for course in world.enrolled[user_id] for lesson in by_course.get(course, [])]
    wanted = 1 + sum(world.rng.random() < 0.5 * weekday_factor(day) for _ in range(4))
    return sorted(world.rng.sample(offered, min(wanted, len(offered))))


def give_seat(world: World, user_id: int, lesson_id: int) -> None:
    """A seat that is given at once, as to a new user."""
    table = attendance_shard(user_id)
    world.schedule(world.now, table, partial(_give_seats, world, table, lesson_id, [user_id]))


def _give_seats(world: World, table: str, lesson_id: int, users: Iterable[int], _meant_for: int) -> None:
    for user_id in users:
        seat = world.new_id("seat", _FIRST_SEAT)
        row: Row = {
            "attendance_id": seat,
            "lesson_id": lesson_id,
            "user_id": user_id,
            "lesson_date": world.rows["lessons"][lesson_id]["lesson_date"],
            "attended": 0,
            "joined_at": None,
            "minutes": None,
            "rating": None,
        }
        world.insert(table, row)
        world.seats[lesson_id].append((table, seat))
        if world.rng.random() < 0.012:
            at = world.now + world.rng.randrange(60, _DAY)
            world.schedule(at, table, partial(_remove, world, table, seat))


def move(world: World, lesson_id: int, day: date) -> None:
    """Write a lesson's new day to its seats, each shard a few seconds after the other."""
    tables = sorted({table for table, _ in world.seats[lesson_id]})
    for number, table in enumerate(tables):
        world.schedule(world.now + 2 + 7 * number, table, partial(_move_seats, world, table, lesson_id, day))


def _move_seats(world: World, table: str, lesson_id: int, day: date, _meant_for: int) -> None:
    for seat in _seats(world, table, lesson_id):
        world.update(table, seat, {"lesson_date": day})


def _seats(world: World, table: str, lesson_id: int) -> list[int]:
    return [seat for own, seat in world.seats[lesson_id] if own == table and seat in world.rows[table]]


def hold(world: World, lesson_id: int, starts: int, duration_min: int) -> None:
    """Who joins a lesson and when, within minutes of its start."""
    ends = starts + duration_min * clock.MINUTE
    chance = _turnout(world, lesson_id)
    for table, seat in list(world.seats[lesson_id]):
        if world.rng.random() < chance:
            late = int(world.rng.triangular(-240, 1_500, 30))
            world.schedule(starts + late, table, partial(_join, world, table, seat, ends))


def _turnout(world: World, lesson_id: int) -> float:
    """Which part of a lesson's seats is taken: courses differ, fewer come on Fridays and Sundays."""
    row = world.rows["lessons"][lesson_id]
    course, day = row["course_id"], row["lesson_date"]
    if not isinstance(course, int) or not isinstance(day, date):
        raise TypeError(f"lesson {lesson_id} is of course {course!r} on {day!r}")
    usual = 0.7 + 0.22 * (course * 7 % len(texts.COURSES)) / len(texts.COURSES)
    return usual - {4: 0.06, 6: 0.04}.get(day.weekday(), 0.0) + world.rng.uniform(-0.05, 0.05)


def _join(world: World, table: str, seat: int, ends: int, meant_for: int) -> None:
    row = world.rows[table].get(seat)
    if row is None or row["attended"] == 1:
        return
    world.update(table, seat, {"attended": 1, "joined_at": clock.wall(meant_for)})
    leaves = max(meant_for + 30, ends + int(world.rng.triangular(-900, 120, 0)))
    world.schedule(leaves, table, partial(_leave, world, table, seat, meant_for))


def _leave(world: World, table: str, seat: int, joined: int, meant_for: int) -> None:
    if seat not in world.rows[table]:
        return
    world.update(table, seat, {"minutes": (Decimal(meant_for - joined) / 60).quantize(Decimal("0.01"))})
    if world.rng.random() < 0.22:
        wait = world.rng.randrange(5, 900) if world.rng.random() < 0.8 else world.rng.randrange(900, 2 * _DAY)
        world.schedule(world.now + wait, table, partial(_rate, world, table, seat))


def _rate(world: World, table: str, seat: int, _meant_for: int) -> None:
    if seat in world.rows[table]:
        world.update(table, seat, {"rating": Decimal(world.rng.randrange(2, 11)) / 2})


def late_change(world: World, table: str, _meant_for: int) -> None:
    """Somebody rates a lesson of some day, at any hour; a teacher's correction where the seat was not taken."""
    if not world.rows[table]:
        return
    seat = world.rng.choice(list(world.rows[table]))
    if world.rows[table][seat]["attended"] == 1:
        _rate(world, table, seat, world.now)
    else:
        world.update(table, seat, {"minutes": Decimal("0.00")})


def correct_day(world: World, day: date, _meant_for: int) -> None:
    """The morning after, teachers mark some who were there by telephone: attended, but never joined."""
    for lesson_id, seats in list(world.seats.items()):
        if world.rows["lessons"][lesson_id]["lesson_date"] == day - timedelta(days=1):
            for table, seat in seats:
                if world.rng.random() < 0.01:
                    at = world.now + world.rng.randrange(4 * clock.HOUR)
                    world.schedule(at, table, partial(_mark, world, table, seat))


def _mark(world: World, table: str, seat: int, _meant_for: int) -> None:
    if seat in world.rows[table]:
        world.update(table, seat, {"attended": 1})


def _remove(world: World, table: str, seat: int, _meant_for: int) -> None:
    """A seat is given back; two in five are wanted again, under the same key: at once or up to hours later."""
    if seat not in world.rows[table]:
        return
    row = world.delete(table, seat)
    if world.rng.random() < 0.4:
        wait = world.rng.choice((0, 1, 900, 8 * clock.HOUR))
        world.schedule(world.now + wait, table, partial(_give_again, world, table, row))


def _give_again(world: World, table: str, row: Row, _meant_for: int) -> None:
    lesson_id = row["lesson_id"]
    if isinstance(lesson_id, int):
        day = world.rows["lessons"][lesson_id]["lesson_date"]
        world.insert(
            table, {**row, "lesson_date": day, "attended": 0, "joined_at": None, "minutes": None, "rating": None}
        )
