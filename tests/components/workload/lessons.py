"""Courses and their lessons: scheduled two days ahead, cancelled, moved to the next day and back, held, finished."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import attendance, clock, texts
from tests.components.workload.profile import weekday_factor

if TYPE_CHECKING:
    from tests.components.workload.world import Row, World

_FIRST_LESSON = 30_001
_TIMES = (
    (8, 30),
    (10, 0),
    (12, 15),
    (14, 0),
    (16, 30),
    (17, 0),
    (17, 30),
    (18, 0),
    (18, 30),
    (19, 0),
    (20, 0),
    (21, 0),
)
_LESSONS_A_COURSE = 5
_DURATIONS = (45, 60, 90)


def import_courses(world: World, _meant_for: int) -> None:
    for number, (title, subject, grade, price) in enumerate(texts.COURSES, start=1):
        row: Row = {"course_id": number, "title": title, "subject": subject, "grade": grade}
        world.insert("courses", {**row, "list_price": Decimal(price)})


def change_price(world: World, _meant_for: int) -> None:
    """A course gets a new price; its orders keep theirs."""
    course = world.rng.randrange(1, len(texts.COURSES) + 1)
    price = Decimal(texts.COURSES[course - 1][3]) + world.rng.choice((-5, 5, 10))
    world.update("courses", course, {"list_price": price})


def schedule_lessons(world: World, day: date, _meant_for: int) -> None:
    """Insert the lessons of a day."""
    for course in range(1, len(texts.COURSES) + 1):
        count = max(2, round(_LESSONS_A_COURSE * weekday_factor(day) * min(1.0, world.scale + 0.4)))
        for hour, minute in sorted(world.rng.sample(_TIMES, count)):
            _add(world, course, clock.at_hour(day, hour, minute), world.rng.choice(_DURATIONS))
    # A revision class for night owls: it goes on past midnight, so people join and leave on both sides of it.
    _add(world, 1 + day.toordinal() % len(texts.COURSES), clock.at_hour(day, 23, 40), 45)


def assign_seats(world: World, day: date, over_seconds: int, meant_for: int) -> None:
    """Give the users of a day their seats, written lesson by lesson and shard by shard over the next `over_seconds`."""
    attendance.assign(world, lessons_of(world, day), day, meant_for, over_seconds)


def lessons_of(world: World, day: date) -> dict[int, Row]:
    """The lessons of a day that will be held, as known now."""
    rows = world.rows["lessons"]
    return {key: row for key, row in rows.items() if row["lesson_date"] == day and row["status"] == "scheduled"}


def _add(world: World, course: int, starts: int, duration: int) -> None:
    lesson_id = world.new_id("lesson", _FIRST_LESSON)
    row: Row = {
        "lesson_id": lesson_id,
        "course_id": course,
        "lesson_date": clock.wall(starts).date(),
        "starts_at": clock.wall(starts),
        "duration_min": duration,
        "status": "scheduled",
    }
    world.insert("lessons", row)
    _expect(world, lesson_id, starts)
    fate = world.rng.random()
    before = starts - world.rng.randrange(clock.HOUR, 6 * clock.HOUR)
    if fate < 0.03:
        world.schedule(before, "lessons", partial(_cancel, world, lesson_id))
    elif fate < 0.07:
        world.schedule(before, "lessons", partial(_move, world, lesson_id, 1))


def _expect(world: World, lesson_id: int, starts: int) -> None:
    world.schedule(starts - 10 * clock.MINUTE, None, partial(_begin, world, lesson_id, starts))


def _cancel(world: World, lesson_id: int, _meant_for: int) -> None:
    world.update("lessons", lesson_id, {"status": "cancelled"})


def _move(world: World, lesson_id: int, days: int, _meant_for: int) -> None:
    """Move a lesson to another day, and its seats, whose partition column this is; half of the moves are taken back."""
    starts = _starts(world, lesson_id) + timedelta(days=days)
    world.update("lessons", lesson_id, {"lesson_date": starts.date(), "starts_at": starts})
    attendance.move(world, lesson_id, starts.date())
    _expect(world, lesson_id, clock.instant(starts))
    if days == 1 and world.rng.random() < 0.5:
        world.schedule(world.now + world.rng.randrange(120, 1_500), "lessons", partial(_move, world, lesson_id, -1))


def _begin(world: World, lesson_id: int, starts: int, _meant_for: int) -> None:
    """Hold a lesson that is still to be held at this time."""
    row = world.rows["lessons"][lesson_id]
    duration = row["duration_min"]
    if row["status"] != "scheduled" or row["starts_at"] != clock.wall(starts) or not isinstance(duration, int):
        return
    attendance.hold(world, lesson_id, starts, duration)
    world.schedule(starts + duration * clock.MINUTE, "lessons", partial(_finish, world, lesson_id))


def _finish(world: World, lesson_id: int, _meant_for: int) -> None:
    world.update("lessons", lesson_id, {"status": "finished"})


def _starts(world: World, lesson_id: int) -> datetime:
    starts = world.rows["lessons"][lesson_id]["starts_at"]
    if not isinstance(starts, datetime):
        raise TypeError(f"lesson {lesson_id} starts at {starts!r}")
    return starts


def welcome(world: World, day: date, _meant_for: int) -> None:
    """Offer a lesson of the same day to those who registered today and have no seat yet; half of them take it."""
    soon = clock.wall(world.now + 20 * clock.MINUTE)
    offered = sorted(key for key, row in lessons_of(world, day).items() if _later(row["starts_at"], soon))
    newcomers = [user for user, registered in world.registered_on.items() if registered == day]
    for user_id in newcomers:
        if user_id in world.engagement and user_id not in world.welcomed and offered:
            world.welcomed.add(user_id)
            if world.rng.random() < 0.55:
                attendance.give_seat(world, user_id, world.rng.choice(offered))


def _later(starts: object, than: datetime) -> bool:
    return isinstance(starts, datetime) and starts > than
