"""Counts records in the sources and in the lake's commits, for tables that declare it (C4).

Each table is counted in turn, at most once a minute, in its own thread, so a slow source does not delay others. If a
source does not answer, its counts do not change, and nothing becomes final. With counts by the capture, its commits
have both sides: the rows of their changes, and the added files. So both sides are from one moment.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from tidemark.capture.commits.commit_state import CommitState
from tidemark.crawl.lake_counts import lake_counts
from tidemark.crawl.source_counts import source_counts
from tidemark.delta.table_changes import LogPosition
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import Zone
from tidemark.errors import TidemarkError
from tidemark.state_store.record_counts import RecordCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.crawl.lake_counts import LakeCounts
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.completeness import Completeness
    from tidemark.state_store.record_counts import RecordCounts
    from tidemark.system.table_location import TableLocation

_EVERY: Final = timedelta(minutes=1)
_AT_ONCE: Final = 1_440
"""Minutes of a source in one pass; the next pass continues."""
_MINUTE: Final = timedelta(minutes=1)
_KEPT: Final = 30 * 1_440
"""Minutes before the newest final one that are counted; reconciliation finds changes in older ones."""


@dataclass
class CountedTables:
    """Counts the tables of one warehouse into one state store; `path_of` gives the path of an entity's table."""

    entities: Callable[[], Iterable[Entity]]
    path_of: Callable[[str], TableLocation]
    counts: RecordCounts
    secrets: ConnectionSecrets
    clock: Callable[[], datetime]
    troubles: dict[str, str] = field(default_factory=dict)
    _next: dict[str, datetime] = field(default_factory=dict)
    _running: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def poll(self) -> int:
        """Start counts of due tables in threads; returns their number."""
        begun = 0
        for entity in self.entities():
            if entity.completeness is None or not self._take(entity.name):
                continue
            Thread(target=self._beside, args=(entity, entity.completeness), daemon=True).start()
            begun += 1
        return begun

    def count(self, entity: Entity, declared: Completeness) -> None:
        """Count one table now. Raises TidemarkError; the lake is counted even if the source does not answer."""
        self._count_lake(entity, declared)
        if not declared.capture:
            self._count_source(entity, declared)

    def count_all(self) -> None:
        """Count every table now that is not being counted; errors are noted."""
        for entity in self.entities():
            if entity.completeness is not None and self._take(entity.name, at_once=True):
                self._beside(entity, entity.completeness)

    def _take(self, name: str, *, at_once: bool = False) -> bool:
        with self._lock:
            now = self.clock()
            if name in self._running or (not at_once and now < self._next.get(name, now)):
                return False
            self._running.add(name)
            self._next[name] = now + _EVERY
            return True

    def _beside(self, entity: Entity, declared: Completeness) -> None:
        try:
            self.count(entity, declared)
            self.troubles.pop(entity.name, None)
        except TidemarkError as error:
            self.troubles[entity.name] = self.secrets.mask(str(error))
        except Exception as error:  # noqa: BLE001 - the boundary of a table; drivers of others raise what they like
            self.troubles[entity.name] = self.secrets.mask(f"{type(error).__name__}: {error}")[:300]
        finally:
            with self._lock:
                self._running.discard(entity.name)

    def _count_lake(self, entity: Entity, declared: Completeness) -> None:
        name = entity.name
        known = self.counts.position(name)
        seen = None if known is None else LogPosition(*known)
        zone = Zone.load(declared.time_zone) if declared.time_zone else None
        lake = lake_counts(self.path_of(name), seen, declared.time_column, zone)
        if lake.position == seen and not lake.is_anew:
            return
        oldest = max(_begins(entity), self.counts.final_until(name) - _KEPT)
        rows = [
            RecordCount(name, minute, "lake", part, records)
            for part, minutes in lake.added.items()
            for minute, records in minutes.items()
            if minute >= oldest
        ]
        states = _states(lake) if declared.capture else []
        final = min(_final(entity, states[-1]), self._until(entity, declared)) if states else 0
        rows += [count for count in _brought(name, states, zone) if count.minute >= oldest]
        removed = None if lake.is_anew else lake.removed
        is_source_anew = declared.capture and lake.is_anew and lake.is_whole
        self.counts.report_lake(name, rows, removed, lake.position, final, is_source_anew=is_source_anew)
        self.counts.forget_before(name, oldest)

    def _count_source(self, entity: Entity, declared: Completeness) -> None:
        name, until, begins = entity.name, self._until(entity, declared), _begins(entity)
        final = max(begins, self.counts.final_until(name))
        first = max(begins, min(final, until) - declared.recount_for // _MINUTE)
        end = min(until, max(first, final) + _AT_ONCE)
        if end <= first:
            return
        counted, sure = source_counts(declared, first, end, self.secrets)
        known = {(minute, part) for minute, side, part, _ in self.counts.within(name, first, end) if side == "source"}
        told = {**dict.fromkeys(known, 0), **counted}
        self.counts.report(
            [RecordCount(name, minute, "source", part, records) for (minute, part), records in told.items()],
            {name: sure},
        )

    def _until(self, entity: Entity, declared: Completeness) -> int:
        """The minute before which records may be final."""
        now = self.clock() - declared.settle_for
        end = entity.calendar.start_of(entity.end) if entity.end else now
        return seconds_of(min(now, end)) // 60


def _states(lake: LakeCounts) -> list[CommitState]:
    """The capture's states in its commits."""
    states = (CommitState.from_json(text) for text in lake.told)
    return [state for state in states if state is not None]


def _brought(name: str, states: Iterable[CommitState], zone: Zone | None) -> Iterator[RecordCount]:
    """Rows of the changes in each of the capture's commits; a batch is a part."""
    for state in states:
        minutes: Counter[int] = Counter()
        for reading, rows in state.minutes.items():
            minutes[reading if zone is None else zone.earliest(reading * 60) // 60] += rows
        for minute, rows in minutes.items():
            yield RecordCount(name, minute, "source", f"batch-{state.batch}", rows)


def _final(entity: Entity, state: CommitState) -> int:
    """The minute before which all changes of all instances are merged."""
    instances = entity.source.instances if entity.source else ()
    return min((state.watermarks.get(instance, 0) // 60_000 for instance in instances), default=0)


def _begins(entity: Entity) -> int:
    return seconds_of(entity.calendar.start_of(entity.start or "1970-01-01")) // 60
