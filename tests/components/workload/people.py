"""Users: imported on the first night, registering day by day, editing their profile, now and then leaving for good."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import clock, orders, texts
from tests.components.workload.profile import moments, weekday_factor

if TYPE_CHECKING:
    from tests.components.workload.world import Row, World

_FIRST_USER = 10_001
_IMPORTED_USERS = 3_300
_IMPORT_BATCH = 25
_REGISTRATIONS_A_DAY = 115
_EDITS_A_DAY = 420
# The part of a new user's days after registration on which he or she comes back.
_RETURNING = (0.8, 0.58, 0.46, 0.38, 0.32, 0.27, 0.23, 0.22)
_DORMANT = 0.22


def import_users(world: World) -> None:
    """Put the import of the existing users on the agenda of the first night, in batches."""
    start = clock.midnight(world.settings.first_day) + 30
    count = max(40, int(_IMPORTED_USERS * world.scale))
    for batch in range(0, count, _IMPORT_BATCH):
        size = min(_IMPORT_BATCH, count - batch)
        world.schedule(start + batch // _IMPORT_BATCH * 3, "users", partial(_import_batch, world, size))


def plan_day(world: World, day: date) -> None:
    """Registrations, profile edits and departures of a day."""
    rng = world.rng
    for at in moments(rng, day, max(3, int(_REGISTRATIONS_A_DAY * world.scale * weekday_factor(day)))):
        world.schedule(at, "users", partial(_register, world))
    for at in moments(rng, day, int(_EDITS_A_DAY * world.scale)):
        world.schedule(at, "users", partial(_edit, world))
    for at in moments(rng, day, 2):
        world.schedule(at, "users", partial(_leave, world))


def comes(world: World, user_id: int, day: date) -> bool:
    """Whether a user takes lessons on a day."""
    age = (day - world.registered_on[user_id]).days
    chance = _RETURNING[age - 1] if 1 <= age <= len(_RETURNING) else world.engagement[user_id]
    return world.rng.random() < chance


def _import_batch(world: World, size: int, meant_for: int) -> None:
    for _ in range(size):
        age = timedelta(days=world.rng.randrange(8, 400), seconds=world.rng.randrange(86_400))
        _add(world, clock.instant(clock.wall(meant_for) - age))


def _register(world: World, meant_for: int) -> None:
    user_id = _add(world, meant_for)
    if world.rng.random() < 0.3:
        at = world.now + world.rng.randrange(60, clock.HOUR)
        orders.place(world, user_id, at)


def _add(world: World, registered: int) -> int:
    rng, user_id = world.rng, world.new_id("user", _FIRST_USER)
    row: Row = {
        "user_id": user_id,
        "nickname": _nickname(world),
        "city": None if rng.random() < 0.15 else rng.choice(texts.CITIES),
        "channel": rng.choice(texts.CHANNELS),
        "registered_at": clock.wall(registered),
    }
    world.engagement[user_id] = 0.02 if rng.random() < _DORMANT else 0.2 + 0.7 * rng.betavariate(2, 2)
    world.registered_on[user_id] = clock.wall(registered).date()
    world.enrolled[user_id] = rng.sample(range(1, len(texts.COURSES) + 1), rng.randint(2, 4))
    world.insert("users", row)
    return user_id


def _nickname(world: World) -> str | None:
    if world.rng.random() < 0.08:
        return None
    return world.rng.choice(texts.FIRST_NAMES) + world.rng.choice(texts.SUFFIXES)


def _edit(world: World, _meant_for: int) -> None:
    if not world.rows["users"]:
        return
    user_id = world.rng.choice(list(world.engagement))
    if user_id not in world.rows["users"]:
        return
    if world.rng.random() < 0.6:
        world.update("users", user_id, {"nickname": _nickname(world)})
    else:
        world.update("users", user_id, {"city": world.rng.choice((*texts.CITIES, None))})


def _leave(world: World, _meant_for: int) -> None:
    """A user has the account erased; orders and attendance stay for the books."""
    if world.rows["users"]:
        user_id = world.rng.choice(list(world.rows["users"]))
        world.delete("users", user_id)
        del world.engagement[user_id]
