"""Compares slices with storage (D8): other programs' changes make them absent or foreign.

Changes are deleted, rolled back, overwritten or vacuumed data; restored data makes a slice valid again. Assets wiped in
Dagster (`event_log`) are not restored here: a slice recovers only from changes found here. Facts are reported before
notes are written: after a crash they are reported again with the same ids. A slice that is being computed stays suspect
until its run has ended.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.notes import unreadable_tables
from tidemark.catalog.partition_contents import DataCondition, DataVerdict
from tidemark.catalog.reconciliation import Reconciliation
from tidemark.center.fact import Fact
from tidemark.center.outages import OUTAGES
from tidemark.dependency_model.status import Event, Quality, RunState
from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.errors import TerminalError
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from tidemark.catalog.notes import TableNote
    from tidemark.catalog.table_look import LookedTable
    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Current, Transition
    from tidemark.warehouse.warehouse import Warehouse

WHO: Final = "storage"
_TROUBLE: Final = {DataCondition.ABSENT: Event.DELETED, DataCondition.FOREIGN: Event.OVERWRITTEN}
_FROM_HERE: Final = frozenset(_TROUBLE.values())
_OF_DATA: Final = _FROM_HERE | {
    *(Event.COMPLETED, Event.BACKFILLED, Event.REACHED, Event.OBSERVED),
    *(Event.BACKFILL_REQUESTED, Event.RECOVERED),
}
"""Events about a slice's data; others (taints, flags) may come in between."""
_QUALITY: Final = {Quality.PASSED: Event.QUALITY_PASSED, Quality.IGNORED: Event.QUALITY_IGNORED}


@dataclass(slots=True)
class StorageReport:
    """Results of a pass: tables checked and changed, commits read, partitions compared.

    Then slices by verdict. `troubles` are tables with an unreadable log, with the reason; `is_whole` means that every
    table was checked.
    """

    tables: int = 0
    changed: int = 0
    commits: int = 0
    judged: int = 0
    absent: int = 0
    foreign: int = 0
    recovered: int = 0
    is_whole: bool = True
    troubles: tuple[tuple[str, str], ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The fields as values of JSON."""
        return asdict(self)


class StorageDetector:
    """Reconciles the tables of a warehouse in turn, for one center."""

    def __init__(
        self,
        warehouse: Warehouse,
        center: DependencyCenter,
        store: StateStore,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._center, self._read, self._clock = center, store.read, clock
        self._reconciliation = Reconciliation(warehouse, store)
        self._next, self._notes = 0, unreadable_tables(store.database)
        names, noted = {table.entity.name for table in self._reconciliation.tables}, self._notes.all()
        self._notes.remove(*(noted.keys() - names))
        self.troubles = {name: why for name, why in noted.items() if name in names}
        """Tables whose log could not be read at the last look, with the reason."""

    def poll(self, seconds: float = float("inf"), *, verify: bool = False) -> StorageReport:
        """Check tables until all are done, or the seconds are over; the next call continues.

        With `verify`, also check that their files exist on disk.
        """
        report, begun, tables = StorageReport(), time.monotonic(), self._reconciliation.tables
        notes, suspects = self._reconciliation.notes.tables(), self._reconciliation.notes.suspects()
        for passed in range(len(tables)):
            if passed and time.monotonic() - begun >= seconds:
                report.is_whole = False
                break
            table = tables[(self._next + passed) % len(tables)]
            name = table.entity.name
            self._poll_table(table, notes.get(name), suspects.get(name, []), report, verify=verify)
            report.tables += 1
        self._next = (self._next + report.tables) % len(tables) if tables else 0
        return report

    def _poll_table(
        self,
        table: LookedTable,
        note: TableNote | None,
        suspects: list[Slice],
        report: StorageReport,
        *,
        verify: bool,
    ) -> None:
        now = self._clock()
        try:
            reconciled = self._reconciliation.reconcile(table, note, suspects, int(now.timestamp()), verify=verify)
        except OUTAGES:
            raise
        except Exception as error:  # noqa: BLE001 - an unforeseen error in one table must not hide the others
            is_foreseen = isinstance(error, TerminalError | FileNotFoundError)
            why = str(error) if is_foreseen else f"{type(error).__name__}: {error}"
            report.troubles += ((table.entity.name, why),)
            self._note_trouble(table.entity.name, why)
            return
        self._note_trouble(table.entity.name, "")
        if reconciled is None:
            report.is_whole = False
            return
        facts = [fact for current, verdict in reconciled.verdicts for fact in self._facts(current, verdict, now)]
        if facts:
            self._center.report(facts)
        if reconciled.update is not None:
            self._reconciliation.note(reconciled.update)
            report.changed += reconciled.update.note != note
            report.commits += reconciled.update.commits
        report.judged += reconciled.looked
        for fact in facts:
            report.absent += fact.event is Event.DELETED
            report.foreign += fact.event is Event.OVERWRITTEN
            report.recovered += fact.event is Event.RECOVERED

    def _note_trouble(self, entity: str, why: str) -> None:
        if why == self.troubles.get(entity, ""):
            return
        if why:
            self.troubles[entity] = why
            self._notes.put({entity: why})
        else:
            del self.troubles[entity]
            self._notes.remove(entity)

    def _facts(self, current: Current, verdict: DataVerdict, now: datetime) -> Iterator[Fact]:
        """Facts of a verdict that the state does not have yet."""
        status, slice_ = current.status, current.slice
        is_absent, is_foreign = status.run_state is RunState.ABSENT, FOREIGN in status.states
        head = f"{WHO}:{slice_}:{current.seq}"
        if verdict.condition is DataCondition.SOUND:
            if is_absent or is_foreign:
                yield from self._recovery(current, head, now)
            return
        if is_absent or (is_foreign and verdict.condition is DataCondition.FOREIGN):
            return
        event = _TROUBLE[verdict.condition]
        yield Fact(f"{head}:{event.value}", slice_, event, now, WHO, verdict.why, generation=status.generation)

    def _recovery(self, current: Current, head: str, now: datetime) -> Iterator[Fact]:
        """Recovery from changes found here; rules that passed for this content still count."""
        history = self._read.history(current.slice)
        at = _told_here(history)
        if at is None:
            return
        slice_, generation = current.slice, current.status.generation
        why = "its data is again what its run wrote"
        yield Fact(f"{head}:recovered", slice_, Event.RECOVERED, now, WHO, why, generation=generation, changed=False)
        quality = _QUALITY.get(history[at - 1].status.quality) if at else None
        if quality is not None:
            yield Fact(f"{head}:quality", slice_, quality, now, WHO, "as before", generation=generation, changed=False)


def _told_here(history: list[Transition]) -> int | None:
    """The time at which this detector found the trouble of the data; None for other troubles."""
    began = None
    for at in range(len(history) - 1, -1, -1):
        if history[at].event not in _OF_DATA:
            continue
        if history[at].event not in _FROM_HERE or history[at].who != WHO:
            break
        began = at
    return began
