"""One holder at a time, each with the next fencing token, and nothing is written by a former one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.state_store.examples import DAY, chain
from tidemark.state_store.database import Database
from tidemark.state_store.errors import FencedError
from tidemark.state_store.fence import Fence
from tidemark.state_store.lease import CENTER, Lease
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from pathlib import Path

STEPS = st.lists(st.tuples(st.sampled_from(["hold", "release", "wait"]), st.integers(0, 2)), max_size=40)


class LeaseClock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_one_holds_it_until_its_time_is_over(database: Database) -> None:
    clock = LeaseClock()
    first, other = (Lease(database, name, 6.0, clock=clock) for name in ("one", "other"))
    assert first.hold() == ("one", 1)
    assert other.hold() == ("one", None)
    clock.now += 5
    assert first.hold() == ("one", 1)
    clock.now += 5.9
    assert other.hold() == ("one", None)
    clock.now += 0.1
    assert other.hold() == ("other", 2)
    assert first.hold() == ("other", None)
    assert (first.fencing_token, other.fencing_token) == (None, 2)


def test_a_late_holder_that_was_not_replaced_continues(database: Database) -> None:
    clock = LeaseClock()
    lease = Lease(database, "one", 6.0, clock=clock)
    lease.hold()
    clock.now += 60
    assert lease.hold() == ("one", 1)


def test_the_successor_of_the_same_name_need_not_wait_and_its_predecessor_is_out(database: Database) -> None:
    former, again = (Lease(database, "sensor of 1", 6.0) for _ in range(2))
    assert former.hold() == ("sensor of 1", 1)
    assert again.hold() == ("sensor of 1", 2)
    assert former.hold() == ("sensor of 1", None)
    assert again.hold() == ("sensor of 1", 2)


def test_a_released_lease_is_free_at_once(database: Database) -> None:
    first, other = Lease(database, "one", 60), Lease(database, "other", 60)
    first.hold()
    first.release()
    assert other.hold() == ("other", 2)
    first.release()
    assert other.hold() == ("other", 2)


def test_the_sensor_yields_to_a_service_and_takes_the_lease_back(database: Database) -> None:
    sensor = Lease(database, "sensor", 60, yields=True)
    service, second = (Lease(database, name, 60, insists=True) for name in ("service", "second"))
    assert sensor.hold() == ("sensor", 1)
    assert service.hold() == ("sensor", None)
    assert sensor.hold() == ("", None)
    assert service.hold() == ("service", 2)
    assert second.hold() == ("service", None)
    assert service.hold() == ("service", 2)
    assert sensor.hold() == ("service", None)
    service.release()
    assert sensor.hold() == ("sensor", 3)
    assert sensor.hold() == ("sensor", 3)


def test_a_former_holder_writes_nothing(store: StateStore) -> None:
    clock = LeaseClock()
    first, other = (Lease(store.database, name, 6.0, clock=clock) for name in ("one", "other"))
    zombie = StateStore(store.database)
    zombie.write.fence = first.fence
    told = chain(DAY, "released launched started")
    with pytest.raises(FencedError, match="another center is active: expected the lease 'center'"):
        zombie.write.append(told[:1], after=0)
    first.hold()
    zombie.write.fence = first.fence
    assert zombie.write.append(told[:1], after=0) == 1
    clock.now += 6
    other.hold()
    store.write.fence = other.fence
    with pytest.raises(FencedError, match=r"expected fencing token 1 .* found fencing token 2, held by other"):
        zombie.write.append(told[1:2], after=1)
    with pytest.raises(FencedError):
        zombie.write.append([], after=1, cursors={"dagster": "5"})
    assert store.write.append(told[1:], after=1) == 3
    assert (store.read.last(), store.read.cursor("dagster")) == (3, None)


def test_a_writer_without_a_fence_is_not_delayed(store: StateStore) -> None:
    Lease(store.database, "one", 60).hold()
    assert store.write.append(chain(DAY, "released"), after=0) == 1
    store.write.fence = Fence(CENTER, 1, "one")
    assert store.write.append([], after=1, cursors={"x": "1"}) == 1


@pytest.mark.parametrize("holder", ["other", "it's 100% \u00fcber\\", ""])
def test_the_same_generation_of_another_holder_is_refused(store: StateStore, holder: str) -> None:
    """As after the database was restored from a copy: fencing tokens are given once more."""
    Lease(store.database, "one", 60).hold()
    store.write.fence = Fence(CENTER, 1, holder)
    with pytest.raises(FencedError, match=f"held by {re.escape(holder)}, found fencing token 1, held by one"):
        store.write.append(chain(DAY, "released"), after=0)
    assert store.read.last() == 0


def test_a_holder_of_any_name_writes(store: StateStore) -> None:
    lease = Lease(store.database, 'it\'s 100% \u00fcber\\ "$$"', 60)
    lease.hold()
    store.write.fence = lease.fence
    assert store.write.append(chain(DAY, "released"), after=0) == 1


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_no_two_hold_it_at_once_and_fencing_tokens_rise(steps: list[tuple[str, int]]) -> None:
    clock, database = LeaseClock(), Database("sqlite://")
    leases = [Lease(database, f"holder {number}", 3.0, clock=clock) for number in range(3)]
    held_until, holder, last = 0.0, None, 0
    for what, number in steps:
        lease = leases[number]
        if what == "wait":
            clock.now += number
        elif what == "release":
            if lease.fencing_token is not None and holder == number:
                held_until, holder = 0.0, None
            lease.release()
        else:
            may = holder == number or clock.now >= held_until
            _, fencing_token = lease.hold()
            assert (fencing_token is not None) == may
            if fencing_token is not None:
                assert fencing_token == last + (holder != number)
                last, holder, held_until = fencing_token, number, clock.now + 3.0
    database.close()


def test_two_processes_of_one_file_share_it(tmp_path: Path) -> None:
    first, other = (Database.at(tmp_path / "state.db") for _ in range(2))
    assert Lease(first, "one", 60).hold() == ("one", 1)
    assert Lease(other, "other", 60).hold() == ("one", None)
    first.close()
    other.close()
