"""Takes over the flows of another center, or takes them back: a term in every lake, a fence in every log (C6).

The steps may be repeated after a crash: the term is found, a fence in a log stays, and slices are taken in once.

1. The term is written to the lake of the holder before, then to this one. Of two take-overs one succeeds.
2. The holder before ends its runs, replicates their slices, and confirms. If it is lost, its permission ends by time.
3. A commit in each replica's log fences earlier terms, so a copy that was delayed cannot be published any more.
4. Published slices that this center has not seen yet are taken in, so they are not computed again. Then it begins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark.center.center import DependencyCenter
from tidemark.center.center_tick import first_start
from tidemark.center.detectors.outside import content_of_history, facts_of_sight
from tidemark.center.fact import Fact
from tidemark.center.outside_world import look_once
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.delta.internals.version_content import newest_content, put_commit
from tidemark.delta.open_table import open_table
from tidemark.delta.own_commit import OWN_COMMIT
from tidemark.delta.published_slice import TERM, published_generation
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.failover import Term, next_term
from tidemark.dependency_model.failover.term import is_alone, may_begin
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.errors import StateConflictError
from tidemark.state_store.record_counts import RecordCounts
from tidemark.state_store.witnessed_arrivals import AGAIN
from tidemark.system.crash_points import crash_point
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.center_fence import CenterFence
from tidemark.warehouse.center_terms import TermMark
from tidemark.warehouse.errors import NotStoppedError, TakeOverError
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class TakeOverOrder:
    """A person's order: `flows` is the center whose flows are taken; `who` and `why` are stored with the term."""

    flows: str
    is_lost: bool
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The term that this center holds, and the published slices that it took in."""

    term: Term
    taken_in: tuple[Slice, ...]


class TakeOver:
    """Carries out one order. `clock` is aware; `pause` waits some seconds between two looks."""

    def __init__(
        self,
        warehouse: Warehouse,
        store: StateStore,
        order: TakeOverOrder,
        clock: Callable[[], datetime] = utc_now,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._store, self._order = warehouse.settings, store, order
        self._clock, self._pause = clock, pause
        known = {entity.center for entity in warehouse.entities.values() if entity.center}
        if not warehouse.settings.center:
            raise TakeOverError.without_name()
        if order.flows not in known:
            raise TakeOverError.unknown(order.flows, known)
        self.fence = CenterFence(warehouse.settings, store.database, clock)

    def carry_out(self, most_looks: int, seconds: float = 2.0) -> TakenOver:
        """Take the flows over. Raises NotStoppedError after `most_looks`, TakeOverError, and errors of stores."""
        term = self._term()
        crash_point("take_over.written")
        for _ in range(most_looks):
            seen = self.fence.look(self._order.flows)
            if seen.term != term:
                raise TakeOverError.too_late(seen.term, self._settings.warehouse)
            if seen.begun >= term.number:
                return TakenOver(term, ())
            if may_begin(seen, self._clock(), self.fence.fence):
                break
            self._pause(seconds)
        else:
            raise NotStoppedError.of(term)
        holders = {self._order.flows: term.before}
        warehouse = load_warehouse(self._settings, holders=holders)
        names = [entity.name for entity in warehouse.entities.values() if entity.center == self._order.flows]
        for name in names:
            _fence_log(warehouse.table_path(name), term.number)
        crash_point("take_over.fenced")
        taken_in = self._take_in(warehouse, names)
        crash_point("take_over.taken_in")
        self.fence.begin(term)
        return TakenOver(term, taken_in)

    def _term(self) -> Term:
        """The new term, in every lake that can be reached; or this center's term that has not begun yet."""
        told, flows, center = self.fence.read(self._order.flows), self._order.flows, self._settings.center
        if center not in told.read:
            raise TakeOverError.unreachable(flows, list(told.troubles.values()))
        present = told.newest
        is_escalated = self._order.is_lost and not present.is_lost and present.number > 1
        has_begun = present.number <= self.fence.begun(flows)
        if present.holder == center and (has_begun or not is_escalated):
            return present
        if told.troubles and not self._order.is_lost:
            raise TakeOverError.unreachable(flows, list(told.troubles.values()))
        is_rejoined = told.has(TermMark.REJOINED, present.number)
        if told.troubles and is_alone(present, present.holder, is_rejoined=is_rejoined):
            raise TakeOverError.alone(present)
        order = self._order
        term = next_term(present, center, self._clock(), is_lost=order.is_lost, who=order.who, why=order.why)
        if present.holder == center:  # the holder before was asked, and is lost now
            term = replace(term, before=present.before)
        for name in sorted(told.read, key=lambda name: name == center):  # the holder's lake first
            if not told.lakes[name].add(term):
                raise TakeOverError.too_late(self.fence.read(flows).newest, told.lakes[name].lake)
            crash_point("take_over.writing")
        return term

    def _take_in(self, warehouse: Warehouse, names: list[str]) -> tuple[Slice, ...]:
        """Report published slices that the state store does not have. Other writers may interfere some times."""
        for tries_left in reversed(range(_TRIES)):
            center = DependencyCenter(
                warehouse.graph, self._store, since=first_start(warehouse), clock=self._clock, who="take-over"
            )
            facts = {slice_: own for name in names for slice_, own in self._found(warehouse, center, name)}
            try:
                center.report([fact for own in facts.values() for fact in own])
            except StateConflictError:
                if not tries_left:
                    raise
            else:
                return tuple(facts)
        return ()

    def _found(self, warehouse: Warehouse, center: DependencyCenter, name: str) -> Iterator[tuple[Slice, list[Fact]]]:
        """Facts about each slice that the replica has in another generation than the state store, or only there."""
        path, now, graph = warehouse.table_path(name), self._clock(), warehouse.graph
        if graph.entity(name).kind is not EntityKind.VIRTUAL or newest_content(path) is None:
            return
        table, secrets = open_table(path), ConnectionSecrets.of(warehouse.settings, {})
        for slice_ in graph.slices(name, now):
            if published_generation(table, str(slice_)) is None:
                continue
            sight = look_once(graph, slice_, secrets, _NoAssets(), RecordCounts(self._store.database))
            status = center.status(slice_)
            known = content_of_history(self._store.read.history(slice_))
            is_there = status.run_state is RunState.COMPLETED
            if not sight.is_there or (is_there and known == sight.content):
                continue
            event_id = f"take-over:{slice_}:{status.generation}:{sight.content}"
            data = facts_of_sight(sight)
            observed = Fact(event_id, slice_, Event.OBSERVED, now, AGAIN, sight.why, replaces=is_there, data=data)
            tainted = Fact(f"{event_id}:tainted", slice_, Event.TAINTED, now, AGAIN, sight.fault)
            yield slice_, [observed, *([tainted] if sight.fault else [])]


class _NoAssets:
    """A replica's probe asks no code location."""

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        """No materialization."""


def _fence_log(path: TableLocation, number: int) -> None:
    """Commit the term to the table's log, so that commits of earlier terms are refused."""
    while True:
        content = newest_content(path)
        if content is None or content.marks.get(TERM, 1) >= number:
            return
        mark = {"txn": {"appId": TERM, "version": number, "lastUpdated": time.time_ns() // 1_000_000}}
        told = {"operation": "TAKE OVER", "engineInfo": "tidemark", "userMetadata": OWN_COMMIT}
        info = {"commitInfo": {"timestamp": time.time_ns() // 1_000_000, **told}}
        if put_commit(path, content.version + 1, [info, mark]):
            return
