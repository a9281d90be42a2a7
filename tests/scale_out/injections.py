"""Seeded kills over capture, slices, repair and vacuum: a victim and a moment a step, until each pair had its share.

After each step the lake is compared with what plain Python says that it must be.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.components.s3_proxy import KINDS, Kind, Moment
from tests.scale_out.driver import TABLES
from tests.scale_out.laboratory import VICTIMS, Laboratory, Victim
from tests.scale_out.stored_tables import batches_of, repairs_of, require_whole, rows_of, writes_of
from tests.scale_out.world import Content, SourceWorld
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEPS: Final = ("capture", "slices", "repair", "vacuum")
POINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "capture": (
        "ingest.before_commit",
        "merge.files_written",
        "merge.committed",
        "ingest.after_commit",
        "ingest.before_tags",
        "ingest.after_tags",
    ),
    "slices": (
        "dispatch.noted",
        "center.written",
        "delta.before_replace",
        "delta.files_written",
        "delta.audited",
        "delta.after_replace",
        "delta.after_replace:2",
        "dispatch.launched",
    ),
    "repair": ("repair.before_write", "repair.files_written", "repair.before_commit", "repair.after_commit"),
    "vacuum": ("vacuum.before_delete", "vacuum.before_delete:3", "vacuum.before_delete:6"),
}
_BY_POINT: Final = 0.5
_RECOMPUTED: Final = 0.5
_MOST_REFUSED: Final = 4
_DAYS_MORE: Final = 3
"""How many times as many days as there are injections of a step it may take: some moments do not come."""


@dataclass(frozen=True)
class Injection:
    """A kill that happened: in which step, whose, when, and how long it took until all was well again."""

    step: str
    victim: Victim
    moment: str
    seconds: float
    attempts: int


@dataclass
class Injector:
    """So many `times` each victim is killed in each step."""

    lab: Laboratory
    seed: int
    times: int
    done: list[Injection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._source = SourceWorld(self.seed)
        self._due: dict[str, list[Victim]] = {step: list(VICTIMS) * self.times for step in STEPS}
        self._usual: dict[str, Counter[Kind]] = {}
        self._launched: Counter[str] = Counter()
        self._unknown = self._repairs = self._repairs_again = 0
        self._struck = False

    def run(self) -> None:
        """Days after days; the first two are undisturbed."""
        self._source.write_project(self.lab.root)
        self.lab.driver.start()
        for number in range(2 + _DAYS_MORE * len(VICTIMS) * self.times):
            if not any(self._due.values()):
                return
            self._day(disturbed=number >= 2)
        raise AssertionError(f"these moments did not come: {self._due}")

    def _day(self, *, disturbed: bool) -> None:
        day = self._source.land(self.lab.data / "landing")
        for step in STEPS:
            order = self._repair_order(day) if step == "repair" else {}
            self._step(step, order, disturbed=disturbed)
            self.check()
            if step != "capture":
                self.check_slices()

    def _step(self, step: str, order: Mapping[str, Any], *, disturbed: bool) -> None:
        due = self._due[step]
        victim = due.pop(self._chance.randrange(len(due))) if disturbed and due else None
        self._struck = False
        self.lab.proxy.wait_for(None)
        point, moment = self._arm(step, victim) if victim else ("", "")
        began = time.monotonic()
        answers = self.lab.done(step, point, **order)
        self._note(step, answers)
        if victim is None:
            self._usual[step] = Counter(self.lab.proxy.counts)
        elif self._struck or (point and not answers[0]):
            seconds = time.monotonic() - began
            self.done.append(Injection(step, victim, moment, round(seconds, 1), len(answers)))
            print(self.done[-1], flush=True)
        else:
            due.append(victim)  # the moment did not come

    def _arm(self, step: str, victim: Victim) -> tuple[str, str]:
        """Choose a moment; the crash point, if it is one, and what to call it."""
        if victim == "driver" and self._chance.random() < _BY_POINT:
            point = self._chance.choice(POINTS[step])
            return point, point
        usual = self._usual[step]
        kind = self._chance.choice([kind for kind in KINDS if usual[kind]])
        moment = Moment(kind, self._chance.randint(1, usual[kind]), self._chance.choice(("before", "after")))
        name = f"{moment.side} {kind} {moment.count} of {usual[kind]}"
        refused, number = self._chance.randint(0, _MOST_REFUSED), self._chance.randrange(len(self.lab.cluster.workers))

        def strike() -> bool:
            self._struck = True
            if victim == "worker":
                self.lab.kill_worker(number)
            elif victim == "store":
                self.lab.kill_store(refused)
            else:
                self.lab.driver.kill()
            return victim == "store"

        self.lab.proxy.wait_for(moment, strike)
        return "", f"{name}, {refused} refused" if victim == "store" else name

    def _note(self, step: str, answers: Sequence[Mapping[str, Any]]) -> None:
        """How often what has been told may have written each slice, at most."""
        if step == "slices":
            self._unknown += sum(1 for answer in answers if "launched" not in answer)
            for answer in answers:
                self._launched.update(answer.get("launched", ()))
        if step == "repair":
            self._repairs += 1
            self._repairs_again += len(answers) - 1

    def _repair_order(self, day: date) -> dict[str, Any]:
        """A stranger writes a wrong row into a slice of the last two days; how that is to be repaired."""
        wrong = max(day - timedelta(days=self._chance.randrange(2)), self._source.days[0])
        table = DeltaTable(self._address("dws_totals_1d"), storage_options=self._options())
        before = table.version()
        row = {"order_date": [wrong], "orders": [999], "amount": [Decimal("1.00")], "dt": [wrong]}
        schema = pa.schema(table.schema().to_arrow())
        write_deltalake(table, pa.table(row).select(schema.names).cast(schema), mode="append")
        recompute = self._chance.random() < _RECOMPUTED
        return {
            "entity": "dws_totals_1d",
            "slice": str(wrong),
            "recompute": recompute,
            "from_version": None if recompute else before,
        }

    def _address(self, name: str) -> str:
        return f"{self.lab.environment['TIDEMARK_WAREHOUSE']}/{name}"

    def _options(self) -> dict[str, str]:
        location = self.lab.store.location("warehouse")
        return {**location.storage_options, **self.lab.store.environment}

    def check(self) -> None:
        """Nothing is lost, doubled or torn."""
        orders, totals, growth = map(self.lab.table, TABLES)
        columns = ("_shard", "order_id", "amount", "order_date")
        assert rows_of(orders, columns) == _orders(self._source.orders_now())
        for snapshot in SnapshotRegistry.at(self.lab.data / "state.db").of("ods_orders"):
            expected = _orders(self._source.orders(date.fromisoformat(snapshot.slice)))
            assert rows_of(orders, columns, snapshot.version) == expected, snapshot
        numbers = batches_of(orders)
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "each batch is there once"
        for table in (orders, totals, growth):
            if table.exists():
                require_whole(table)

    def check_slices(self) -> None:
        """The same of all days that are computed."""
        _, totals, growth = map(self.lab.table, TABLES)
        days = self._source.days
        assert rows_of(totals, ("dt", "order_date", "orders", "amount")) == Counter(
            (day, ordered, *figures) for day in days for ordered, figures in self._source.totals(day).items()
        )
        assert rows_of(growth, ("dt", "order_date", "orders", "more")) == Counter(
            (day, ordered, *figures) for day in days for ordered, figures in self._source.growth(day).items()
        )
        for table in (totals, growth):
            for day, count in writes_of(table).items():
                launched = self._launched[f"{table.name}@{day}"]
                assert count <= launched + self._unknown, f"{table.name}@{day}: {count} commits, {launched} runs"
        assert self._repairs <= repairs_of(totals) <= self._repairs + self._repairs_again


def _orders(content: Content) -> Counter[tuple[Any, ...]]:
    return Counter((*key, *order) for key, order in content.items())
