"""Random writes, deletions, rollbacks and compactions, ours and foreign, against a slow reference that reads the rows.

The reference knows what our last run wrote into a day, and reads what is there now. Every row has a number of its own:
equal rows are the same content.
"""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalog.lake import DAYS, Lake

if TYPE_CHECKING:
    from collections.abc import Sequence

OPERATIONS: Final = (
    *("our write", "our write of before marks", "our empty write"),
    *("overwrite", "append", "delete", "restore", "compact", "vacuum", "look", "new process", "verify"),
)
Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, len(DAYS) - 1), st.integers(0, 30)), min_size=3, max_size=14
)


class Reference:
    """What our runs wrote, and how each day stood at the last look."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.numbers = lake, count(1)
        self.own: dict[str, list[int]] = {}
        self.stands: dict[str, str] = {}

    def step(self, operation: str, day: str, number: int) -> None:
        lake, rows = self.lake, [next(self.numbers), next(self.numbers)]
        match operation:
            case "our write" | "our write of before marks" | "our empty write":
                self.own[day] = [] if operation == "our empty write" else rows
                self.stands.pop(day, None)
                lake.write(day, self.own[day], marked=operation != "our write of before marks")
            case "overwrite":
                lake.commit(day, rows)
            case "append":
                lake.append(day, rows)
            case "delete":
                lake.delete(day)
            case "restore" if lake.version:
                lake.restore(number % lake.version)
            case "compact":
                lake.compact()
            case "vacuum":
                # What is not live any more stays, so that a later rollback finds its files.
                DeltaTable(str(lake.path)).vacuum(retention_hours=1_000, dry_run=False)
            case "new process":
                lake.detector = lake.open_detector()
            case "look" | "verify":
                self.look(verify=operation == "verify")

    def look(self, *, verify: bool = False) -> None:
        self.lake.poll(verify=verify)
        for day, own in self.own.items():
            now = self.lake.rows_of(day)
            is_absent = self.stands.get(day) == "absent"
            expected = "completed" if now == own else "absent" if not now or is_absent else "foreign"
            self.stands[day] = expected
            assert self.lake.shown(f"sales@{day}").removesuffix(" tainted") == expected, (day, now, own)


def check(steps: Sequence[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        reference = Reference(lake)
        reference.step("our write", DAYS[0], 0)
        for operation, day, number in steps:
            reference.step(operation, DAYS[day], number)
        reference.look()
        reference.look()
        lake.store.close()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(STEPS)
def test_a_slice_stands_as_its_rows_say(steps: list[Step]) -> None:
    check(steps)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_many_slices_stand_as_their_rows_say(steps: list[Step]) -> None:
    check(steps)
