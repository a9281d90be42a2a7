"""Orders: placed, paid, cancelled, refunded, corrected, moved to another date and back, deleted and inserted again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from tests.components.workload import clock, texts
from tests.components.workload.profile import moments, weekday_factor
from tests.components.workload.schema import COUPON_COLUMN, orders_shard
from tests.components.workload.world import Row, World

if TYPE_CHECKING:
    from tests.components.workload.changes import Value

_FIRST_ORDER = 700_001
_ORDERS_A_DAY = 900
_IMPORTED_ORDERS = 1_100
_DAY = 24 * clock.HOUR

Step = Callable[[World, str, int, int], None]


def plan_day(world: World, day: date) -> None:
    """The orders of a day by users known at its start; business grows by 3 % a day."""
    growth = 1 + 0.03 * (day - world.settings.first_day).days
    count = max(12, int(_ORDERS_A_DAY * world.scale * weekday_factor(day) * growth))
    buyers = list(world.engagement)
    if not buyers:
        return
    weights = [world.engagement[user] for user in buyers]
    for at, user_id in zip(moments(world.rng, day, count), world.rng.choices(buyers, weights, k=count), strict=True):
        place(world, user_id, at)


def import_orders(world: World, _meant_for: int) -> None:
    """Orders of the week before the first day, paid then: rows older than the first slice."""
    for number in range(max(20, int(_IMPORTED_ORDERS * world.scale))):
        user_id = world.rng.choice(list(world.engagement))
        age = timedelta(seconds=world.rng.randrange(_DAY, 7 * _DAY))
        ordered = clock.instant(clock.wall(world.now) - age)
        action = partial(_import_one, world, orders_shard(user_id), user_id, ordered)
        world.schedule(world.now + number // 20, orders_shard(user_id), action)


def place(world: World, user_id: int, at: int, *follow_ups: tuple[int, Step], note: str | None = None) -> int:
    """Have a user place an order at an instant; without `follow_ups` (seconds later, step) chance decides the rest."""
    table, order_id = orders_shard(user_id), world.new_id("order", _FIRST_ORDER)
    world.schedule(at, table, partial(_create, world, table, order_id, user_id, follow_ups, note))
    return order_id


def _import_one(world: World, table: str, user_id: int, ordered: int, _meant_for: int) -> None:
    order_id = world.new_id("order", _FIRST_ORDER)
    row = _new_row(world, order_id, user_id, ordered, None)
    paid: Row = {"status": "paid", "paid_at": clock.wall(ordered + 95)}
    world.insert(table, {**row, **paid} if world.rng.random() < 0.8 else row)
    _then(world, table, order_id, _later_steps(world))


def _create(
    world: World,
    table: str,
    order_id: int,
    user_id: int,
    follow_ups: tuple[tuple[int, Step], ...],
    note: str | None,
    meant_for: int,
) -> None:
    world.insert(table, _new_row(world, order_id, user_id, meant_for, note))
    _then(world, table, order_id, follow_ups or (*_first_steps(world), *_later_steps(world)))


def _new_row(world: World, order_id: int, user_id: int, ordered: int, note: str | None) -> Row:
    rng = world.rng
    course = rng.choice(world.enrolled[user_id])
    price = Decimal(texts.COURSES[course - 1][3])
    discount = (price * rng.choice((5, 10, 20)) / 100).quantize(Decimal("0.01")) if rng.random() < 0.4 else None
    row: Row = {
        "order_id": order_id,
        "user_id": user_id,
        "course_id": course,
        "status": "created",
        "amount": price - (discount or Decimal("0.00")),
        "discount": discount,
        "note": note if note is not None else _note(world),
        "order_date": clock.wall(ordered).date(),
        "created_at": clock.wall(ordered),
        "paid_at": None,
    }
    if orders_shard(user_id) in world.with_coupon:
        row[COUPON_COLUMN] = rng.choice(texts.COUPONS) if rng.random() < 0.18 else None
    return row


def _note(world: World) -> str | None:
    if world.rng.random() < 0.75:
        return None
    return world.rng.choice(texts.HARD_NOTES if world.rng.random() < 0.2 else texts.PLAIN_NOTES)


def _first_steps(world: World) -> list[tuple[int, Step]]:
    fate = world.rng.random()
    if fate < 0.74:
        return [(5 + int(world.rng.expovariate(1 / 360)), pay)]
    if fate < 0.78:
        return [(int(world.rng.expovariate(1 / (9 * clock.HOUR))), pay)]
    return [(1_800 + world.rng.randrange(300), cancel)] if fate < 0.88 else []


def _later_steps(world: World) -> list[tuple[int, Step]]:
    chances: tuple[tuple[float, Step], ...] = (
        (0.04, refund),
        (0.07, edit_note),
        (0.015, correct_amount),
        (0.015, move_date),
        (0.012, remove),
        (0.03, add_coupon),
    )
    return [
        (world.rng.randrange(clock.HOUR, 3 * _DAY), step) for chance, step in chances if world.rng.random() < chance
    ]


def _then(
    world: World, table: str, order_id: int, steps: tuple[tuple[int, Step], ...] | list[tuple[int, Step]]
) -> None:
    for seconds, step in steps:
        world.schedule(world.now + seconds, table, partial(_on_existing, world, table, order_id, step))


def _on_existing(world: World, table: str, order_id: int, step: Step, meant_for: int) -> None:
    if order_id in world.rows[table]:
        step(world, table, order_id, meant_for)


def _has(world: World, table: str, order_id: int, status: str) -> bool:
    return world.rows[table][order_id]["status"] == status


def pay(world: World, table: str, order_id: int, meant_for: int) -> None:
    """Paid at the moment that the step was meant for, which is before it was written if the shard was silent."""
    if _has(world, table, order_id, "created"):
        world.update(table, order_id, {"status": "paid", "paid_at": clock.wall(meant_for)})


def pay_written_late(world: World, table: str, order_id: int, meant_for: int) -> None:
    """Paid three seconds ago: around midnight the payment's day is over when it is written."""
    pay(world, table, order_id, meant_for - 3)


def cancel(world: World, table: str, order_id: int, _meant_for: int) -> None:
    if _has(world, table, order_id, "created"):
        world.update(table, order_id, {"status": "cancelled"})


def refund(world: World, table: str, order_id: int, _meant_for: int) -> None:
    if _has(world, table, order_id, "paid"):
        world.update(table, order_id, {"status": "refunded"})


def edit_note(world: World, table: str, order_id: int, _meant_for: int) -> None:
    world.update(table, order_id, {"note": world.rng.choice((*texts.HARD_NOTES, *texts.PLAIN_NOTES, None))})


def correct_amount(world: World, table: str, order_id: int, _meant_for: int) -> None:
    amount = world.rows[table][order_id]["amount"]
    if isinstance(amount, Decimal):
        world.update(table, order_id, {"amount": max(Decimal("0.01"), amount - Decimal("7.77"))})


def add_coupon(world: World, table: str, order_id: int, _meant_for: int) -> None:
    if table in world.with_coupon:
        world.update(table, order_id, {COUPON_COLUMN: world.rng.choice(texts.COUPONS)})


def move_date(world: World, table: str, order_id: int, _meant_for: int) -> None:
    """Correct the order's date, its partition column; two in five corrections are taken back."""
    before = world.rows[table][order_id]["order_date"]
    if isinstance(before, date):
        world.update(table, order_id, {"order_date": before + timedelta(days=world.rng.choice((-2, -1, 1)))})
        if world.rng.random() < 0.4:
            _then(world, table, order_id, [(world.rng.randrange(1, _DAY), partial(_move_back, before))])


def _move_back(day: Value, world: World, table: str, order_id: int, _meant_for: int) -> None:
    world.update(table, order_id, {"order_date": day})


def remove(world: World, table: str, order_id: int, _meant_for: int) -> None:
    """Delete an order; two in five come back under the same key: at once, or up to a day later, with another date."""
    row = world.delete(table, order_id)
    if world.rng.random() < 0.4:
        seconds = world.rng.choice((0, 0, 1, 600, 5 * clock.HOUR, _DAY))
        world.schedule(world.now + seconds, table, partial(_insert_again, world, table, row))


def remove_and_insert_again(world: World, table: str, order_id: int, _meant_for: int) -> None:
    """Delete an order and insert it again within the second."""
    _insert_again(world, table, world.delete(table, order_id), world.now)


def _insert_again(world: World, table: str, row: Row, meant_for: int) -> None:
    created: datetime = clock.wall(meant_for)
    again = {**row, "note": "ressaisie", "order_date": created.date(), "created_at": created}
    world.insert(table, again | ({COUPON_COLUMN: row.get(COUPON_COLUMN)} if table in world.with_coupon else {}))
