"""What the center decided over the day, judged by the reference: from the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from benchmarks.readiness.reference import Key, inputs_of, instances, key_of, moved
from tidemark.state_store.transition import instant_of

if TYPE_CHECKING:
    from benchmarks.readiness.world import ReadinessWorld
    from tidemark.state_store.database import Database

_MOST_LATE: Final = timedelta(seconds=20)
"""Facts are reported together for 15 s outside the sampled minutes; a decision later than that is late."""


@dataclass(slots=True)
class Judgement:
    """Slices that were to be released, and how many were so: not before their last input, not without, not twice.

    `edges` are their inputs that were done in time or ever.
    """

    expected: int = 0
    right: int = 0
    early: int = 0
    late: int = 0
    missed: int = 0
    doubled: int = 0
    edges: int = 0

    @property
    def accuracy(self) -> float:
        return self.right / self.expected if self.expected else 0.0


NEVER: Final = (1 << 60, datetime.max.replace(tzinfo=UTC))


@dataclass(slots=True)
class _Told:
    """By task and key, the number and time of each release, and of when the slice was done."""

    released: dict[Key, list[tuple[int, datetime]]]
    done: dict[Key, tuple[int, datetime]]
    by_task: dict[str, list[tuple[str, tuple[int, datetime]]]]

    def when(self, key: Key, *, or_older: bool) -> tuple[int, datetime]:
        """When an input was there; keys of one task sort by time."""
        if not or_older:
            return self.done.get(key, NEVER)
        older = [when for other, when in self.by_task.get(key[0], ()) if other <= key[1]]
        return min(older, default=NEVER)


def judge(world: ReadinessWorld, database: Database, since: datetime, until: datetime) -> Judgement:
    """Slice by slice; every decision has to be there that is possible from what was done by then, and no other."""
    told, judgement = _read(database), Judgement()
    for name, period, begin in instances(world, since, until):
        key = name, key_of(period, begin)
        inputs = list(inputs_of(world, name, period, begin))
        not_before = moved(period, begin, 1)
        there = [told.when(slice_, or_older=older) for slice_, older in inputs]
        judgement.edges += sum(instant is not NEVER for instant in there)
        last = max(there, default=(0, not_before))
        _judge_one(judgement, told.released.get(key, []), last, (not_before, until))
    return judgement


def _judge_one(
    judgement: Judgement,
    released: list[tuple[int, datetime]],
    last: tuple[int, datetime],
    bounds: tuple[datetime, datetime],
) -> None:
    """`last` is the number and time of the input that was done last, `bounds` the earliest time and the day's end."""
    not_before, until = bounds
    may_start = last is not NEVER
    due = max(last[1], not_before) if may_start else until
    judgement.expected += may_start
    if not released:
        judgement.missed += may_start and due < until - _MOST_LATE
        judgement.right += may_start and due >= until - _MOST_LATE
        return
    number, when = released[0]
    is_early = number < last[0] or when < not_before
    is_late = when - due > _MOST_LATE
    judgement.doubled += len(released) > 1
    judgement.early += is_early
    judgement.late += is_late
    judgement.right += not (is_early or is_late or len(released) > 1)


def _read(database: Database) -> _Told:
    told = _Told({}, {}, {})
    query = "SELECT seq, entity, key, event, record_time FROM transitions WHERE event IN ('released', 'quality_passed')"
    with database.reading() as connection:
        for seq, entity, key, event, micros in connection.execute(text(query + " ORDER BY seq")):
            if event == "released":
                told.released.setdefault((entity, key), []).append((seq, instant_of(micros)))
            else:
                told.done[entity, key] = seq, instant_of(micros)
                told.by_task.setdefault(entity, []).append((key, (seq, instant_of(micros))))
    return told
