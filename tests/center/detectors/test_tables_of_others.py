"""A Delta table that another program writes: each day is told as it was written, and again when it was changed.

Late rows and overwrites change it, whoever looks, and whenever the one who looked died before anything was told. The
oracle is a replay of what was written.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import dagster as dg
import pyarrow as pa
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.center.detectors.test_outside import OutsideWorld
from tests.examples import examples
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState

DAYS: Final = ("2024-06-01", "2024-06-02", "2024-06-03")
_WRITES: Final = st.tuples(st.sampled_from(["append", "overwrite"]), st.sampled_from(DAYS), st.integers(1, 9))
_KILLS: Final = st.just(("die", "", 0))
_STEPS: Final = st.lists(st.one_of(_WRITES, _WRITES, _WRITES, _KILLS), min_size=1, max_size=8)
_SETTLED_MINUTES: Final = 45


class Written:
    """The table, a replay of it, and what the center has to have told of each day."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.table = str(folder / "clicks")
        probe = f"{{delta: {{table: '{self.table}', partition: {{dt: '{{start:%Y-%m-%d}}'}}}}, settle_for: 2m, "
        probe += "late_every: 10m, recheck_for: 30d}"
        clicks = f"kind: Virtual\nperiod: day\nstart: 2024-06-01\nend: 2024-06-04\nprobe: {probe}\n"
        report = "{period: day, depends_on: [clicks]}"
        self.world = OutsideWorld(folder, instance, clicks=clicks, report=report)
        self.world.now = datetime(2024, 6, 4, 6, tzinfo=UTC)
        self.rows, self.changes = Counter[str](), Counter[str]()

    def do(self, step: tuple[str, str, int]) -> None:
        what, day, count = step
        if what == "die":
            # It has looked, and nothing settled yet: a look alone is believed by nobody.
            self.world.go_on(1)
            self.world.detector = self.world.open_detector()
            return
        rows = pa.table({"n": list(range(count)), "dt": [date.fromisoformat(day)] * count})
        how: dict[str, Any] = {"mode": "append"}
        if what == "overwrite" and self.rows:
            how = {"mode": "overwrite", "predicate": f"dt = '{day}'"}
            self.rows[day] = 0
        write_deltalake(self.table, rows, partition_by=["dt"], **how)
        self.rows[day] += count
        self.changes[day] += 1

    def told_rows(self, day: str) -> int | None:
        history = self.world.store.read.history(Slice("clicks", day))
        told = [step.facts.row_count for step in history if step.facts.row_count is not None]
        return told[-1] if told else None


def check(written: Written) -> None:
    """What is there is told as it is, and what is not there is not told."""
    for day in DAYS:
        state, _ = written.world.status(f"clicks@{day}")
        assert (state is RunState.COMPLETED) == (day in written.rows), day
        assert written.told_rows(day) == written.rows.get(day), day


@examples(4)
@given(steps=_STEPS)
def test_each_day_is_told_as_it_was_written(steps: list[tuple[str, str, int]]) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        written = Written(folder, stack.enter_context(dg.DagsterInstance.ephemeral()))
        for step in steps:
            written.do(step)
        written.world.go_on(_SETTLED_MINUTES)
        check(written)
        written.world.store.close()


def test_late_rows_and_overwrites_restate_their_day_and_no_other(tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        written = Written(tmp_path, instance)
        for at, step in enumerate([("append", DAYS[0], 3), ("append", DAYS[0], 2), ("overwrite", DAYS[1], 4)]):
            written.do(step)
            written.world.go_on(_SETTLED_MINUTES)
            check(written)
            generations = [written.world.center.status(Slice("clicks", day)).generation for day in DAYS]
            assert generations == [min(at + 1, 2), 1, 1], at
        written.do(("overwrite", DAYS[1], 4))
        written.world.go_on(_SETTLED_MINUTES)
        assert written.world.center.status(Slice("clicks", DAYS[1])).generation == 2
        written.world.store.close()
