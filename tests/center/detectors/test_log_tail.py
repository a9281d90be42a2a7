"""A reader of a log whose numbers become visible out of order reads each record once, and all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tidemark.center.detectors.log_tail import COMMIT_SECONDS, OLD_SECONDS, Tail

DELAYS = st.lists(st.tuples(st.floats(0, 3), st.floats(0, 0.99 * COMMIT_SECONDS)), max_size=40)


@dataclass
class Reader:
    """Reads behind `last`, and every second time behind `safe_cursor`."""

    tail: Tail
    taken: list[int] = field(default_factory=list)

    def read(self, visible: list[int], now: float, *, reconcile: bool) -> None:
        after = self.tail.safe_cursor if reconcile else self.tail.last
        for number in sorted(visible):
            if number > after and self.tail.is_new(number):
                self.tail.take(number, now)
                self.taken.append(number)
        if reconcile:
            self.tail.advance(now)


@given(DELAYS)
def test_each_record_is_read_once_however_late_it_is_visible(writes: list[tuple[float, float]]) -> None:
    now, inserted, shown = 0.0, 0.0, list[float]()
    for pause, delay in writes:
        inserted += pause
        shown.append(inserted + delay)
    reader = Reader(Tail(0, lambda: now, lambda: now))
    while now <= max(shown, default=0.0) + 1:
        visible = [number for number, at in enumerate(shown, 1) if at <= now]
        reader.read(visible, now, reconcile=int(2 * now) % 2 == 1)
        now += 0.5
    assert sorted(reader.taken) == list(range(1, len(writes) + 1))


def test_history_need_not_be_remembered() -> None:
    tail = Tail(0, lambda: 100.0, lambda: 1_000_000.0)
    tail.take(7, 1_000_000.0 - 2 * OLD_SECONDS)
    tail.take(9, 1_000_000.0)
    tail.advance(100.0)
    assert (tail.safe_cursor, tail.last) == (7, 9)
    assert [tail.is_new(number) for number in (6, 8, 9, 10)] == [False, True, False, True]
