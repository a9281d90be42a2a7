"""The DependencyCenter (seed capability A6): facts in, durable transitions and decisions out.

One commit has facts, their effects, and the released slices. So every durable fact is decided, and nothing is lost or
doubled by a crash. Simultaneous reports share a commit. Memory follows from the store; after a failed commit it is read
again.
"""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.center.active_backfills import ActiveBackfills
from tidemark.center.early_reads import early_reads
from tidemark.center.fact import Fact, Receipt
from tidemark.center.in_memory_state import CenterMemory
from tidemark.center.inputs_changed_unseen import inputs_changed_unseen
from tidemark.center.latency import Latency
from tidemark.center.reports_before import reports_before
from tidemark.center.transition_staging import Staging
from tidemark.center.widened_needs import WidenedNeeds
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.earliest_time import earliest
from tidemark.dependency_model.readiness.explanation import explain
from tidemark.dependency_model.readiness.invalidity import invalidity
from tidemark.dependency_model.readiness.overview import missing_inputs
from tidemark.dependency_model.readiness.release import Release, release
from tidemark.dependency_model.readiness.self_starting_slices import is_marker, next_state
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest, manifest_of
from tidemark.dependency_model.status import Event
from tidemark.errors import ParseError, TidemarkError, UnknownEntityError
from tidemark.state_store.errors import EventKnownError
from tidemark.state_store.transition import Facts
from tidemark.system.crash_points import crash_point
from tidemark.system.garbage_collection import freeze_live_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.explanation import Explanation
    from tidemark.dependency_model.readiness.index import ReadinessDecision
    from tidemark.dependency_model.readiness.invalidity import Invalidity
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import FailureCount

DUE_AT_ONCE: Final = 1_000
"""Most due slices in one commit, so that simultaneous reports wait for at most one."""
CHECKPOINT_BEHIND: Final = timedelta(hours=6)
"""Most slices have started by this time, and need no note that they wait."""
_LOGGER: Final = logging.getLogger("tidemark.center")
_KEPT_AT_ONCE: Final = 25_000
_ENDS: Final = frozenset({Event.COMPLETED, Event.FAILED, Event.CANCELLED, Event.INTERRUPTED})


@dataclass(slots=True)
class _Ticket:
    facts: Sequence[Fact]
    cursors: Mapping[str, str]
    strict: bool
    receipt: Receipt = field(default_factory=Receipt)
    done: Future[Receipt] = field(default_factory=Future)


class DependencyCenter:
    """Safe between threads; one center for each store at a time (a second one gets StateConflictError)."""

    def __init__(
        self,
        graph: DependencyGraph,
        store: StateStore,
        *,
        since: datetime,
        clock: Callable[[], datetime],
        who: str = "center",
    ) -> None:
        self.graph, self.latency, self.backfills = graph, Latency(), ActiveBackfills()
        self._store, self._since, self._clock, self._who = store, since, clock, who
        self._lock = Lock()
        self._queue: deque[_Ticket] = deque()
        self._memory: CenterMemory | None = None
        self._unkept = 0
        self.undecided: dict[Slice, Exception] = {}
        """Slices whose decision failed, with the reason; each is tried again at the next event around it."""
        self._is_declared = False

    @property
    def store(self) -> StateStore:
        """The state store, which has everything that the center knows."""
        return self._store

    def report(
        self, facts: Sequence[Fact], *, cursors: Mapping[str, str] | None = None, strict: bool = False
    ) -> Receipt:
        """Report facts; returns when they and their effects are durable.

        An impossible fact is refused in the receipt; with `strict`, its error is raised and none of these facts is
        stored. `cursors` are positions of detectors, written with the facts. Raises StateStoreDownError and
        StateConflictError: report again, written facts are recognized by their event ids.
        """
        ticket, begun = _Ticket(facts, cursors or {}, strict), self.latency.now()
        self._queue.append(ticket)
        with self._lock:
            if not ticket.done.done():
                self._commit_queued()
        receipt = ticket.done.result()
        if receipt.new:
            self.latency.note_decision(begun)
        return receipt

    def tick(self) -> int:
        """Apply the clock: earliest times, time-outs. Returns the number of released slices."""
        return _until_done(self.tick_once)

    def tick_once(self) -> tuple[int, bool]:
        """One commit of the clock; the number of released slices, and whether it is done for now."""
        with self._lock:
            memory = self._fresh()
            self._take_in_declarations(memory)
            is_done = memory.index.advance(self._clock(), DUE_AT_ONCE)
            self._keep(0 if is_done else DUE_AT_ONCE)
            return self._write(Staging(self.graph, memory, memory.last, self._clock()), {}), is_done

    def launch(self, slices: Iterable[Slice], run_id: str, pool: str) -> list[Slice]:
        """Durably record one run for those of the slices that are still ready; returns them."""
        with self._lock:
            memory = self._fresh()
            now = self._clock()
            staging = Staging(self.graph, memory, memory.last, now)
            launched = [slice_ for slice_ in slices if slice_ in memory.ready]
            manifests = self._manifests(memory, launched, now)
            for slice_ in launched:
                staging.take(self._launch_of(memory, manifests[slice_], run_id, pool, now))
            self._write(staging, {})
            return launched

    def prepare(self, until: datetime, limit: int = DUE_AT_ONCE) -> bool:
        """Prepare slices that become due by then, in idle moments; returns whether there is more."""
        with self._lock:
            is_done = self._fresh().index.prepare(until, limit)
            self._keep(0 if is_done else limit)
            return is_done

    def checkpoint(self, behind: timedelta = CHECKPOINT_BEHIND, most: int = DUE_AT_ONCE) -> int:
        """Store the position in the schedule, so that the next start can skip the past; returns the number of notes.

        Slices that still wait long after their time are noted, a limited number at once, so that reports wait only
        briefly.
        """
        return _until_done(lambda: self.checkpoint_once(behind, most))

    def checkpoint_once(self, behind: timedelta = CHECKPOINT_BEHIND, most: int = DUE_AT_ONCE) -> tuple[int, bool]:
        """One commit of it; the number of notes, and whether it was the last."""
        with self._lock:
            memory = self._fresh()
            note = memory.index.checkpoint(self._clock() - behind, most)
            if note is None:
                return 0, True
            try:
                self._store.write.note(note, after=memory.last)
            except BaseException:
                self._forget()
                raise
            memory.index.note_checkpoint(note)
            return len(note.waiting), note.is_last

    def refresh(self, names: Iterable[str]) -> None:
        """These entities, or their dependencies, were added, changed or removed in the graph."""
        with self._lock:
            memory = self._fresh()
            memory.index.refresh(names)
            self._write(Staging(self.graph, memory, memory.last, self._clock()), {})

    def catch_up(self) -> int:
        """Read transitions that another center wrote; returns their number."""
        with self._lock:
            memory = self._fresh()
            transitions = self._store.read.after(memory.last)
            if transitions:  # its clock may be ahead: what it released by time must not be withdrawn here
                memory.index.advance(max(self._clock(), transitions[-1].record_time))
                memory.apply(transitions)
            return len(transitions)

    def status(self, slice_: Slice) -> SliceStatus:
        """The current status of a slice."""
        with self._lock:
            return self._fresh().index.status(slice_)

    def statuses(self, slices: Iterable[Slice]) -> dict[Slice, SliceStatus]:
        """Stored statuses of many slices, without those without events; nothing is cached."""
        return {current.slice: current.status for current in self._store.read.currents(slices)}

    def explain(self, slice_: Slice, depth: int = 1) -> Explanation:
        """The explanation of a slice now. Raises ParseError and UnknownEntityError."""
        with self._lock:
            return explain(self.graph, slice_, known=self._fresh().index, now=self._clock(), depth=depth)

    def invalidities(self, slices: Iterable[Slice]) -> dict[Slice, Invalidity | None]:
        """Why slices are invalid or held; None for others, and for slices that are not in the graph."""
        told: dict[Slice, Invalidity | None] = {}
        with self._lock:
            index, now = self._fresh().index, self._clock()
            for slice_ in slices:
                told[slice_] = None
                with suppress(ParseError, UnknownEntityError):
                    self.graph.window(slice_)
                    told[slice_] = invalidity(self.graph, slice_, index, now)
        return told

    def waiting(self, since: datetime, most: int) -> tuple[int, dict[Slice, tuple[Slice, ...]]]:
        """The number of slices that wait after their earliest time; for the newest of them, the missing inputs."""
        with self._lock:
            memory, now = self._fresh(), self._clock()
            count, newest = memory.index.waiting_since(since, most)
            lacking = {slice_: missing_inputs(self.graph, slice_, memory.index, now) for slice_ in newest}
            return count, lacking

    def ready(self) -> list[Slice]:
        """Slices that may be launched, in the order of their release."""
        with self._lock:
            return list(self._fresh().ready)

    def completed_slices(self) -> Iterator[tuple[Slice, SliceStatus]]:
        """Completed slices of scheduled or captured entities in the graph, without markers."""
        for name in self.graph:
            node = self.graph.node(name)
            currents = self._store.read.completed_slices(name)
            yield from ((current.slice, current.status) for current in currents if not is_marker(node, current.slice))

    def failed_slices(self) -> list[Slice]:
        """Slices that failed and were not retried."""
        with self._lock:
            return list(self._fresh().failed)

    def failures(self, slice_: Slice) -> FailureCount | None:
        """Failures of an open slice's present generation; None if there are none. Does not use the database."""
        with self._lock:
            memory = self._fresh()
            failures = memory.failures.get(slice_)
            return failures if failures and failures.generation == memory.index.status(slice_).generation else None

    def has_failed_before(self, slice_: Slice) -> bool:
        """Whether this generation of a slice is known to have failed once."""
        with self._lock:
            memory = self._fresh()
            return memory.tried.get(slice_) == memory.index.status(slice_).generation

    def under_way(self) -> dict[Slice, tuple[str | None, str | None]]:
        """Launched or running slices, with their run and its pool."""
        with self._lock:
            memory = self._fresh()
            return {slice_: (memory.runs.get(slice_), pool) for slice_, pool in memory.under_way.items()}

    def launched_slices(self) -> dict[Slice, tuple[str, str | None]]:
        """Active slices in runs that this center launched, with the run and its pool."""
        with self._lock:
            memory = self._fresh()
            return {slice_: (run, memory.under_way.get(slice_)) for slice_, run in memory.launched.items()}

    def unreadable(self) -> dict[Slice, str]:
        """Slices with an unreadable stored value, with the reason: they wait for a backfill."""
        with self._lock:
            return dict(self._fresh().unreadable)

    @property
    def memory(self) -> CenterMemory:
        """The memory, for queries over much of it; do not keep it."""
        with self._lock:
            return self._fresh()

    def _take_in_declarations(self, memory: CenterMemory) -> None:
        """Once: completed slices may need more by the current declarations."""
        if self._is_declared:
            return
        needs = WidenedNeeds(self.graph, self._store.database, self._store.read)
        staging = Staging(self.graph, memory, memory.last, self._clock())
        for fact in needs.facts(memory.index, memory.last, self._clock()):
            with suppress(TidemarkError):  # it is not complete any more
                staging.take(fact)
        if staging.transitions:
            self._write(staging, {})
        needs.note(self._store)
        self._is_declared = True

    def _fresh(self) -> CenterMemory:
        if self._memory is None:
            decides = self.backfills.decides
            self._memory = CenterMemory(self.graph, self._store.read, self._since, self._clock(), decides)
            self._keep(len(self._memory.index.statuses) + len(self.graph))
        return self._memory

    def _keep(self, more: int) -> None:
        """Move this many new objects out of the garbage collector's way."""
        self._unkept += more
        if self._unkept >= _KEPT_AT_ONCE:
            self._unkept = 0
            freeze_live_objects()

    def _forget(self) -> None:
        """Forget the memory, which differs from the store."""
        if self._memory is not None:
            self._memory.index.let_go()
        self._memory = None

    def _commit_queued(self) -> None:
        """One commit for all waiting tickets; the lock is held."""
        tickets = [self._queue.popleft() for _ in range(len(self._queue))]
        try:
            self._commit(tickets)
        except TidemarkError as error:  # reported to every waiting caller, who raises it
            _refuse(tickets, error)
        except Exception as error:  # noqa: BLE001 - the caller of each faulty ticket raises it, no other caller
            waiting = [ticket for ticket in tickets if not ticket.done.done()]
            if len(waiting) < 2:
                _refuse(waiting, error)
            for ticket in waiting:
                self._commit_alone(ticket)
        except BaseException as error:
            _refuse(tickets, error)
            raise

    def _commit_alone(self, ticket: _Ticket) -> None:
        """After an unexpected error, commit ticket by ticket, so that only the faulty one fails."""
        if ticket.done.done():
            return
        ticket.receipt = Receipt()
        try:
            self._commit([ticket])
        except Exception as error:  # noqa: BLE001 - as above
            _refuse([ticket], error)

    def _commit(self, tickets: Sequence[_Ticket]) -> None:
        facts = [fact for ticket in tickets for fact in ticket.facts]
        doubtful = list(filter(self._may_be_known, facts))
        try:
            self._commit_unknown(tickets, doubtful)
        except EventKnownError:
            if len(doubtful) == len(facts):
                raise
            tickets = [ticket for ticket in tickets if not ticket.done.done()]
            for ticket in tickets:
                ticket.receipt = Receipt()
            self._commit_unknown(tickets, facts)

    def _may_be_known(self, fact: Fact) -> bool:
        """Whether event ids must be looked up in the store, which takes a round trip.

        A reported end of a run has removed the slice from the active ones; the store refuses other known ids.
        """
        memory, slice_ = self._fresh(), fact.slice
        is_of_run = fact.data.run_id is not None and fact.data.run_id == memory.runs.get(slice_)
        return not (is_of_run and slice_ in memory.under_way and fact.event in _ENDS)

    def _commit_unknown(self, tickets: Sequence[_Ticket], doubtful: Sequence[Fact]) -> None:
        """Commit all new facts at once; `doubtful` ids are looked up first."""
        memory, now = self._fresh(), self._clock()
        known = self._store.read.known_ids([fact.event_id for fact in doubtful])
        facts = [fact for ticket in tickets for fact in ticket.facts]
        reads = early_reads(self.graph, memory, self._store.read, facts, now)
        exposed = [fact for fact in facts if fact.slice.entity in self.graph]
        before = reports_before(exposed, self.graph, memory, self._store.read)
        missed = inputs_changed_unseen(self.graph, memory, self._store.read, exposed)
        staging, cursors = Staging(self.graph, memory, memory.last, now, before=before), dict[str, str]()
        for ticket in tickets:
            own = Staging(self.graph, memory, staging.last, now, below=staging, reads=reads, missed=missed)
            if self._stage(ticket, own, known):
                staging.merge(own)
                cursors.update(ticket.cursors)
        self._write(staging, cursors)
        for ticket in tickets:
            if not ticket.done.done():
                ticket.done.set_result(ticket.receipt)

    def _stage(self, ticket: _Ticket, own: Staging, known: set[str]) -> bool:
        """Whether the ticket's facts were staged: for a strict one, all or none."""
        ids: set[str] = set()
        for fact in ticket.facts:
            if fact.slice.entity not in self.graph:
                ticket.receipt.unexposed += 1
            elif fact.event_id in known or fact.event_id in ids:
                ticket.receipt.known += 1
            elif not self._take(fact, own, ticket):
                return False
            ids.add(fact.event_id)
        known |= ids
        return True

    def _take(self, fact: Fact, own: Staging, ticket: _Ticket) -> bool:
        """Whether the ticket's other facts may continue."""
        try:
            is_new = own.take(fact)
        except TidemarkError as error:
            ticket.receipt.refused.append((fact, error))
            if ticket.strict:
                ticket.done.set_exception(error)
                return False
            return True
        ticket.receipt.new += is_new
        ticket.receipt.known += not is_new
        return True

    def _write(self, staging: Staging, cursors: Mapping[str, str]) -> int:
        """Decide about the staged facts and write everything; returns the number of released slices."""
        memory = self._fresh()
        after, applied, released = memory.last, 0, 0
        try:
            while True:
                memory.apply(staging.transitions[applied:])
                applied = len(staging.transitions)
                decisions = memory.index.decide()
                if not decisions:
                    break
                for decision in decisions:
                    released += self._decide_alone(decision, staging)
            if staging.transitions or cursors:
                crash_point("center.staged")
                self._store.write.append(staging.transitions, after=after, cursors=cursors)
                crash_point("center.written")
        except BaseException:
            self._forget()
            raise
        return released

    def _decide_alone(self, decision: ReadinessDecision, staging: Staging) -> bool:
        """An error in one decision affects only its slice; the others are written."""
        self.undecided.pop(decision.slice, None)
        try:
            return self._decide(decision, staging)
        except Exception as error:
            _LOGGER.exception("%s cannot be decided upon; the others are", decision.slice)
            self.undecided[decision.slice] = error
            return False

    def _decide(self, decision: ReadinessDecision, staging: Staging) -> bool:
        slice_, now = decision.slice, self._clock()
        number = staging.last + 1
        if decision.event is Event.RELEASED and is_marker(self.graph.node(slice_.entity), slice_):
            fact = Fact(f"center:{number}", slice_, Event.OBSERVED, now, self._who, "everything it stands for is there")
            staging.take(fact)
            return True
        why = f"for {decision.state}{', without some of its inputs' * decision.partial}"
        if decision.event is Event.WITHDRAWN:
            why = "an input was found wrong, or is asked for again"
        fact = Fact(f"center:{number}", slice_, decision.event, now, self._who, why)
        staging.add(fact, decision.event, fact.event_id, fact.data)
        if decision.event is Event.RELEASED:
            self.latency.note_release(slice_)
        return decision.event is Event.RELEASED

    def _manifests(self, memory: CenterMemory, slices: Sequence[Slice], now: datetime) -> dict[Slice, SliceManifest]:
        """Manifests for the runs of slices: decided only here."""
        decisions = {slice_: self._decision_of(memory, slice_, now) for slice_ in slices}
        used = {input_ for _, decided in decisions.values() for verdict in decided.verdicts for input_ in verdict.used}
        versions = self._store.read.versions(used) if used else {}
        return {
            slice_: manifest_of(slice_, state, decided, memory.index, versions)
            for slice_, (state, decided) in decisions.items()
        }

    def _decision_of(self, memory: CenterMemory, slice_: Slice, now: datetime) -> tuple[str, Release]:
        entity = self.graph.entity(slice_.entity)
        state = next_state(entity, memory.index.status(slice_)) or COMPLETED
        not_before = earliest(entity, self.graph.window(slice_))
        return state, release(self.graph.requirements(slice_, state), memory.index, not_before, now)

    def _launch_of(self, memory: CenterMemory, manifest: SliceManifest, run_id: str, pool: str, now: datetime) -> Fact:
        slice_ = manifest.slice
        data = Facts(run_id=run_id, cluster=pool, manifest=manifest)
        event_id = f"launch:{run_id}:{slice_}:{memory.index.status(slice_).generation}:{memory.last}"
        why = f"for {manifest.state}{', without some of its inputs' * manifest.is_partial}"
        return Fact(event_id, slice_, Event.LAUNCHED, now, self._who, why, data=data)


def _refuse(tickets: Sequence[_Ticket], error: BaseException) -> None:
    for ticket in tickets:
        if not ticket.done.done():
            ticket.done.set_exception(error)


def _until_done(once: Callable[[], tuple[int, bool]]) -> int:
    """The sum of all calls up to the last one."""
    total, is_done = 0, False
    while not is_done:
        count, is_done = once()
        total += count
    return total
