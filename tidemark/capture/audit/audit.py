"""The audit's loop: reads ranges at the source, and compares them once capture has passed their snapshots."""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.capture.audit.comparisons import Comparisons
from tidemark.capture.audit.cursor import KeptAuditCursor
from tidemark.capture.audit.cycle_run import CycleReport, CycleRun
from tidemark.capture.audit.errors import AuditRefusedError, SlowRangeError
from tidemark.capture.audit.finding_book import FindingBook
from tidemark.capture.audit.lake_reader import LakeReader
from tidemark.capture.audit.lake_side import LakeSide
from tidemark.capture.audit.look import LookTask, PendingLook
from tidemark.capture.audit.row_comparison import RowLook, confirmed
from tidemark.capture.audit.shard_walk import ShardWalk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from tidemark.capture.audit.audited_range import Patch
    from tidemark.capture.audit.findings import AuditFinding
    from tidemark.capture.audit.pace import AuditPace
    from tidemark.capture.audit.source_reader import SourceReader
    from tidemark.capture.source.intake import Intake
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings

RANGE_ROWS: Final = 50_000
_BUCKETS_AT_ONCE: Final = 64
_MOST_PENDING: Final = 32
_MOST_LOOKS: Final = 6
"""Looks at rows that stay undecided; the next cycle looks at them again."""
_MOST_VALUES: Final = 1_000
"""Values of a key's first column in one query; with more values the whole range is read."""
_POLL_SECONDS: Final = 0.5
_COMPARE_SECONDS: Final = 20.0
_PATIENCE_SECONDS: Final = 1_800.0
"""How long a look waits for capture to pass its snapshot."""


class SourceAudit:
    """Compares the captured tables of a warehouse with their sources. `readers` has each instance with an address."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        sources: Sequence[SourceTable],
        readers: Mapping[str, SourceReader],
        intake: Intake,
        pace: AuditPace,
        database: Database,
        range_rows: int = RANGE_ROWS,
    ) -> None:
        lake = LakeReader.of(spark, settings.warehouse)
        self._settings, self._sources, self._readers, self._pace = settings, tuple(sources), readers, pace
        self._sides = {source.name: LakeSide(lake, settings, source, intake, database) for source in sources}
        self._book = FindingBook(database)
        self._cursor = KeptAuditCursor(database)
        self._range_rows = range_rows

    def open(self) -> Sequence[AuditFinding]:
        """The findings that are not resolved, of all cycles."""
        return self._book.open()

    def cycle(
        self, stopped: Callable[[], bool] = lambda: False, watch: Callable[[CycleReport], None] = lambda _: None
    ) -> CycleReport:
        """Look at every range once, from where the last cycle stopped, and record new and resolved findings.

        The cycle ends early if `stopped` returns True; `watch` gets the report as it grows. Only one audit may work on
        a warehouse at a time. Raises DatabaseDownError; the next call continues from there.
        """
        begun, busy = time.monotonic(), self._pace.busy
        report = CycleReport()
        walk = ShardWalk(self._sources, self._readers, self._settings.warehouse, self._range_rows)
        steps = walk.steps(self._cursor.read(), report.passed_over.__setitem__)
        run = CycleRun(steps, deque(self._again(walk)), report)
        with closing(Comparisons(self._sides)) as comparisons:
            while not stopped():
                self._settle(run, comparisons)
                watch(report)
                task = self._next(run)
                if task is not None:
                    self._look(run, task)
                elif run.is_through and comparisons.is_idle:
                    self._cursor.clear()
                    break
                else:
                    time.sleep(_POLL_SECONDS)
        report.seconds = time.monotonic() - begun
        report.source_seconds = self._pace.busy - busy
        return report

    def _again(self, walk: ShardWalk) -> Iterator[LookTask]:
        """Looks at the rows of open findings, which may have been repaired."""
        by_name = {source.name: source for source in self._sources}
        for finding in self._book.open():
            if finding.patch.table not in by_name or finding.patch.instance not in self._readers:
                continue
            shard = walk.prepared(by_name[finding.patch.table], finding.patch.shard)
            if not isinstance(shard, str):
                yield LookTask(shard, finding.patch, number=1, finding=finding)

    def _next(self, run: CycleRun) -> LookTask | None:
        """The next look at the source; None if it has to wait, or nothing is left."""
        if self._pace.wait or len(run.pending) >= _MOST_PENDING:
            return None
        if run.tasks:
            return run.tasks.popleft()
        begun = time.monotonic()
        step = next(run.steps, None)
        if step is None:
            run.steps_left = False
            return None
        self._pace.asked(begun)
        run.number += 1
        run.under_way.begin(run.number, step.behind)
        return LookTask(step.shard, step.patch, run.number)

    def _look(self, run: CycleRun, task: LookTask) -> None:
        """Read the rows or groups of a look at the source."""
        progress = self._sides[task.patch.table].progress(task.patch.instance)
        if progress is None:
            self._give_up(run, task, "capture has not run yet")
            return
        reader, begun = self._readers[task.patch.instance], time.monotonic()
        try:
            if task.number:
                mark, rows = reader.rows(task.patch, task.shard.compared)
                run.pending.append(PendingLook(task, progress.offset, mark, begun, rows=rows))
            else:
                mark, groups = reader.groups(task.patch, task.shard.compared)
                run.pending.append(PendingLook(task, progress.offset, mark, begun, groups=groups))
                run.report.rows += sum(group.rows for group in groups.values())
        except SlowRangeError as error:
            self._range_rows = max(1, self._range_rows // 2)
            self._give_up(run, task, str(error.found))
        except AuditRefusedError as error:
            self._give_up(run, task, str(error.found))
        self._pace.asked(begun)
        run.report.looks += 1

    def _settle(self, run: CycleRun, comparisons: Comparisons) -> None:
        """Take the results of finished comparisons, and start to compare the looks that capture has passed since."""
        for look, outcome in comparisons.ended():
            run.compared = time.monotonic()
            self._take(run, look, outcome)
        cursor = run.under_way.settled()
        if cursor is not None:
            self._cursor.write(cursor)
        if comparisons.is_idle and _is_due(run):
            passed = [look for look in run.pending if self._is_passed(look)]
            self._keep_waiting(run, passed)
            if passed:
                comparisons.begin(passed)

    def _take(self, run: CycleRun, look: PendingLook, outcome: tuple[int, ...] | RowLook | str) -> None:
        if isinstance(outcome, str):
            self._give_up(run, look.task, outcome)
        elif isinstance(outcome, RowLook):
            self._end(run, look.task, self._judged(run, look, outcome))
        else:
            self._end(run, look.task, list(_narrowed(look.task, outcome)))
            run.report.ranges += 1

    def _keep_waiting(self, run: CycleRun, passed: Sequence[PendingLook]) -> None:
        """Keeps the looks that capture has not passed, and gives up each after `_PATIENCE_SECONDS`."""
        done = {id(look) for look in passed}
        run.pending, late = [look for look in run.pending if id(look) not in done], run.pending
        now = time.monotonic()
        for look in late:
            if id(look) not in done and now - look.asked > _PATIENCE_SECONDS:
                run.pending.remove(look)
                self._give_up(run, look.task, "capture does not get past it, see tidemark capture status")

    def _judged(self, run: CycleRun, look: PendingLook, rows: RowLook) -> list[LookTask]:
        """The further looks that follow from a comparison of rows."""
        task, now = look.task, rows.differences()
        if task.finding is not None:
            if not task.finding.rows.keys() & (now.keys() | rows.changing):
                run.report.resolved.append(self._book.resolve(task.finding))
            return []
        known = self._book.known_rows(task.patch.shard)
        now = {key: kind for key, kind in now.items() if key not in known}
        same = confirmed(task.before, now)
        if same:
            run.report.found.append(self._book.add(task.shard, _at_keys(task, same), same, rows))
        goes_on = (now.keys() - same.keys()) or rows.deleted is None
        if not goes_on or task.number >= _MOST_LOOKS:
            return []
        return [replace(task, patch=_at_keys(task, now.keys() | rows.changing), number=task.number + 1, before=now)]

    def _is_passed(self, look: PendingLook) -> bool:
        patch = look.task.patch
        progress = self._sides[patch.table].progress(patch.instance)
        return progress is not None and look.mark.is_passed(progress)

    def _give_up(self, run: CycleRun, task: LookTask, why: str) -> None:
        run.report.passed_over[f"{task.patch.shard} {task.patch.range}"] = why
        self._end(run, task, [])

    @staticmethod
    def _end(run: CycleRun, task: LookTask, more: Sequence[LookTask]) -> None:
        run.under_way.add(task.step, len(more) - 1)
        run.tasks.extend(more)


def _narrowed(task: LookTask, buckets: Sequence[int]) -> Iterator[LookTask]:
    """Looks at the rows of the given buckets, `_BUCKETS_AT_ONCE` in each."""
    for start in range(0, len(buckets), _BUCKETS_AT_ONCE):
        patch = replace(task.patch, buckets=tuple(buckets[start : start + _BUCKETS_AT_ONCE]))
        yield replace(task, patch=patch, number=1)


def _is_due(run: CycleRun) -> bool:
    """Whether to compare now. Looks are compared together: many cost the lake and the topic little more than one."""
    has_to_wait = len(run.pending) >= _MOST_PENDING or not (run.tasks or run.steps_left)
    return has_to_wait or time.monotonic() - run.compared > _COMPARE_SECONDS


def _at_keys(task: LookTask, keys: Collection[str]) -> Patch:
    """The task's patch limited to these keys, if they are few and the source finds them by its index."""
    values = task.shard.compared.first_values(keys)
    return replace(task.patch, first_values=values) if len(values) <= _MOST_VALUES else task.patch
