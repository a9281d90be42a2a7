"""People start, repeat, cancel and back-fill, reports come in any order, the project changes, the center starts again.

After each settling, every slice that exists is computed from its present inputs, or tells people why it is not: its
policy keeps it, or its backfill was cancelled before.
Meanwhile no slice that does not exist is launched, no slice has two writers, and no tick raises.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.center.changing_world import ChangingWorld
from tidemark.api.later_inputs import later_inputs
from tidemark.center.run_grouping import exact_part
from tidemark.dependency_model.backfill.progress import FOLLOWING, BackfillAction, BackfillPhase
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.readiness.self_starting_slices import is_computed_here
from tidemark.dependency_model.readiness.unread_needs import unread_needs
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.status.transition import row_of
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from tidemark.dependency_model.backfill import Backfill

DAYS: Final = ("2031-05-05", "2031-05-06", "2031-05-07")
NAMES: Final = ("feed", "a", "b", "c", "d")
POLICIES: Final = ("always", "always", "if_changed", "never", "ask")
LAST: Final = datetime(2031, 5, 8, tzinfo=UTC)
OFFSETS: Final = ("Set 0", "Set -1", "Set -1,0", "Range -2..0")
STARTS: Final = DAYS
ENDS: Final = ("", "", "2031-05-08")
IN_MEMORY: Final = Path("/dev/shm")
"""Each commit of a store on a disk waits for the disk."""
STORES: Final = IN_MEMORY if IN_MEMORY.is_dir() else None
RUN_ENDS: Final = ("completed", "completed", "failed", "cancelled", "interrupted", "lost")

inputs = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(OFFSETS)), min_size=0, max_size=2)
EVENING: Final = "start: '2031-05-07T21', end: '2031-05-08T00'"
PARTS: Final = ("", "", "", ", sub_partitions: {region: [eu]}", ", sub_partitions: {region: [eu, us]}")
LINES: Final = ("parts", "kind", "reads", "policy", "start", "end", "is_external")
KINDS: Final = ("TimeSeries", "TimeSeries", "Sliding", "Snapshot")

declarations = st.fixed_dictionaries(
    {
        "is_hourly": st.integers(0, 7).map(lambda chance: not chance),
        "parts": st.sampled_from(PARTS),
        "kind": st.sampled_from(KINDS),
        "reads": inputs,
        "policy": st.sampled_from(POLICIES),
        "start": st.sampled_from(STARTS),
        "end": st.sampled_from(ENDS),
        "is_external": st.integers(0, 9).map(lambda chance: not chance),
    }
)


@cache
def _empty_store() -> Path:
    """A store that is made once."""
    folder = Path(tempfile.mkdtemp(prefix="people_", dir=STORES))
    database = Database.at(folder / "state.db")
    StateStore(database).read.last()
    database.close()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class PeopleAndChanges(RuleBasedStateMachine):
    steps: ClassVar[int] = 0
    """The rules that all plays of one class have had."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="people_", dir=STORES))
        shutil.copy(_empty_store() / "state.db", self.folder)
        self.writers: dict[str, str] = {}
        self.cancelled: dict[str, int] = {}
        self.told: list[tuple[str, str, str, datetime]] = []
        self.same: set[tuple[str, int]] = set()
        self.away: dict[str, dict[str, object]] = {}
        self.kept: set[tuple[Slice, Slice, int]] = set()
        """What an earlier policy kept: the slice, the input that it has not read, and the generation of that."""
        self.runs = 0
        self.in_dagster: list[int] = []
        self.over_in_dagster: list[int] = []

    @initialize(
        declared=st.fixed_dictionaries(dict.fromkeys(NAMES[1:], declarations)), together=st.sampled_from([1, 3])
    )
    def begin(self, declared: dict[str, dict[str, object]], together: int) -> None:
        self.declared = declared
        self.world = ChangingWorld(self.folder, self.texts(), start=DAYS[0], together=together)
        self.world.later(days=2)

    def texts(self) -> dict[str, str]:
        texts = {"feed": "{period: day, kind: Virtual}"}
        present = [name for name in NAMES if name == "feed" or name in self.declared]
        for name in present[1:]:
            told = self.declared[name]
            before = present[: present.index(name)]
            reads = {before[at % len(before)]: offset for at, offset in told["reads"]}  # type: ignore[attr-defined]
            depends = ", ".join(f"{{entity: {up}, offset: '{offset}'}}" for up, offset in reads.items())
            end = f", end: {told['end']}" if told["end"] else ""
            kind = "kind: Virtual" if told["is_external"] else f"kind: {told['kind']}, depends_on: [{depends}]"
            when = f"period: hour, {EVENING}" if told["is_hourly"] else f"period: day, start: {told['start']}{end}"
            texts[name] = f"{{{when}, reprocess: {told['policy']}, {kind}{told['parts']}}}"
        return texts

    def there(self) -> list[Slice]:
        graph = self.world.graph
        return [slice_ for name in graph for slice_ in graph.slices(name, LAST)]

    @rule()
    def tick(self) -> None:
        before = dict(self.world.runs.slices)
        self.see_ends_in_dagster()
        self.world.step()
        for run in [run for run in self.world.runs.slices if run not in before]:
            slices = [Slice.parse(name) for name in self.world.runs.slices[run]]
            assert exact_part(self.world.graph, slices) == slices, f"{slices} are not a range"
            for name in self.world.runs.slices[run]:
                assert is_computed_here(self.world.graph, Slice.parse(name)), f"{name} does not exist"
                assert name not in self.writers, f"{name} has two writers"
                held = self.cancelled.get(name)
                assert held is None or self.world.status(name).generation > held, f"{name} was cancelled"
                self.cancelled.pop(name, None)
                self.writers[name] = run

    @rule(at=st.integers(0, 20), how=st.sampled_from(RUN_ENDS),
          is_same=st.booleans())  # fmt: skip
    def a_run_ends(self, at: int, how: str, *, is_same: bool) -> None:
        if self.writers:
            name = sorted(self.writers)[at % len(self.writers)]
            self.end(name, how, is_same=is_same)

    def end(self, name: str, how: str, *, is_same: bool = False) -> None:
        run = self.writers.pop(name)
        if self.world.graph.has(Slice.parse(name)):
            self.world.later(seconds=1)
            self.world.tell(name, how, run, changed=not is_same)
            self.told.append((name, how, run, self.world.now))
            if how == "completed" and is_same:
                self.same.add((name, self.world.status(name).generation))
            if how == "cancelled":
                self.cancelled[name] = self.world.status(name).generation
        else:
            self.writers[name] = run  # it ends once the slice is back, or never

    @rule(at=st.integers(0, 20), repeats=st.booleans())
    def a_person_starts_a_run(self, at: int, *, repeats: bool) -> None:
        there = [slice_ for slice_ in self.there() if is_computed_here(self.world.graph, slice_)]
        if not there:
            return
        slice_ = there[at % len(there)]
        if str(slice_) in self.writers:
            return  # a step of it would be refused
        self.runs += 1
        run = f"by hand {self.runs}"
        self.world.later(seconds=1)
        self.world.tell(str(slice_), "started", run)
        self.told.append((str(slice_), "started", run, self.world.now))
        if repeats:
            self.world.tell(str(slice_), "started", run)
        self.writers[str(slice_)] = run
        self.cancelled.pop(str(slice_), None)

    @rule(at=st.integers(0, 99))
    @precondition(lambda self: self.told)
    def a_report_comes_again(self, at: int) -> None:
        """Late, or twice: it says nothing new, whatever happened meanwhile."""
        name, event, run, when = self.told[at % len(self.told)]
        if self.world.graph.has(Slice.parse(name)) and is_computed_here(self.world.graph, Slice.parse(name)):
            before = self.world.status(name)
            self.world.tell(name, event, run, when)
            now = self.world.status(name)
            assert now == before, f"{event} of {run} again: {before} became {now}, {self.world.events(name)}"

    @rule(at=st.integers(0, 20), event=st.sampled_from(["observed", "observed", "deleted", "backfill_requested"]))
    def the_world_outside(self, at: int, event: str) -> None:
        outside = [slice_ for slice_ in self.there() if not is_computed_here(self.world.graph, slice_)]
        if outside:
            slice_ = outside[at % len(outside)]
            if self.world.status(str(slice_)).run_state in (RunState.WAITING, RunState.COMPLETED, RunState.ABSENT):
                self.world.tell(str(slice_), event)

    @rule(at=st.integers(0, 20), event=st.sampled_from(["backfill_requested", "retried", "kept", "tainted"]))
    def a_person_asks(self, at: int, event: str) -> None:
        wanted = {
            "backfill_requested": (RunState.COMPLETED, RunState.FAILED, RunState.WAITING, RunState.ABSENT),
            "retried": (RunState.FAILED,),
        }.get(event, (RunState.COMPLETED,))
        fitting = [slice_ for slice_ in self.there() if is_computed_here(self.world.graph, slice_)]
        fitting = [slice_ for slice_ in fitting if self.world.status(str(slice_)).run_state in wanted]
        if fitting:
            self.world.tell(str(fitting[at % len(fitting)]), event)
            self.cancelled.pop(str(fitting[at % len(fitting)]), None)

    @rule(
        at=st.integers(0, 20),
        event=st.sampled_from(["deleted", "overwritten", "recovered", "quality_failed", "quality_ignored"]),
    )
    def rows_are_changed_or_found_wrong(self, at: int, event: str) -> None:
        wanted = (RunState.COMPLETED, RunState.ABSENT) if event == "recovered" else (RunState.COMPLETED,)
        fitting = [slice_ for slice_ in self.there() if is_computed_here(self.world.graph, slice_)]
        fitting = [slice_ for slice_ in fitting if self.world.status(str(slice_)).run_state in wanted]
        if fitting:
            self.world.tell(str(fitting[at % len(fitting)]), event)

    @rule(at=st.integers(0, 20), more=st.integers(0, 20))
    def a_person_begins_a_backfill_in_dagster(self, at: int, more: int) -> None:
        there = [slice_ for slice_ in self.there() if is_computed_here(self.world.graph, slice_)]
        there = [slice_ for slice_ in there if self.world.status(str(slice_)).run_state is RunState.COMPLETED]
        if there:
            roots = {str(there[place % len(there)]) for place in (at, more)}
            self.in_dagster.append(self.world.dagster_backfill(*sorted(roots)))

    @rule()
    @precondition(lambda self: self.in_dagster)
    def a_backfill_in_dagster_ends(self) -> None:
        self.over_in_dagster.append(self.in_dagster.pop(0))

    def see_ends_in_dagster(self) -> None:
        """Abandon ended backfills as the detector does at each look."""
        active = {row.number for row in self.world.stored.active()}
        for number in active.intersection(self.over_in_dagster):
            backfill = self.world.stored.load(number)
            if left := {slice_ for slice_ in backfill.turns if self.is_left(backfill, slice_)}:
                self.world.stored.abandon(number, left)

    def is_left(self, backfill: Backfill, slice_: Slice) -> bool:
        """Whether the run of a backfill in Dagster has not come to the slice."""
        after = backfill.plan.members[slice_].after
        return after is not None and self.world.status(str(slice_)).generation <= after

    @rule(at=st.integers(0, 20))
    def a_person_begins_a_backfill(self, at: int) -> None:
        there = list(self.there())
        if there:
            self.world.backfill(str(there[at % len(there)]))
            self.cancelled.clear()

    @rule(
        at=st.integers(0, 5),
        action=st.sampled_from([BackfillAction.PAUSE, BackfillAction.RESUME, BackfillAction.CANCEL]),
    )
    def a_person_acts(self, at: int, action: BackfillAction) -> None:
        rows = self.world.stored.rows(FOLLOWING[action])
        if rows:
            self.world.act(rows[at % len(rows)].number, action)

    @rule(at=st.integers(0, 5), rebuild=st.booleans())
    def a_person_answers(self, at: int, *, rebuild: bool) -> None:
        rows = self.world.stored.rows()
        if rows:
            self.world.stored.answer(rows[at % len(rows)].number, None, rebuild=rebuild)

    @rule(name=st.sampled_from(NAMES[1:]), told=declarations)
    def the_project_changes(self, name: str, told: dict[str, object]) -> None:
        if name in self.declared and self.declared[name]["policy"] not in ("always", told["policy"]):
            there = [slice_ for slice_ in self.there() if slice_.entity == name]
            self.kept |= {(slice_, used, now) for slice_ in there for used, _, now in self.stale_inputs(slice_)}
        self.declared = {own: self.declared[own] for own in NAMES[1:] if own in self.declared} | {name: told}
        self.world.declare(self.texts())

    @rule(at=st.integers(0, 9), line=st.sampled_from([*LINES]), told=declarations)
    @precondition(lambda self: self.declared)
    def one_line_changes(self, at: int, line: str, told: dict[str, object]) -> None:
        name = sorted(self.declared)[at % len(self.declared)]
        self.the_project_changes(name, {**self.declared[name], line: told[line]})

    @rule(name=st.sampled_from(NAMES[1:]))
    @precondition(lambda self: len(self.declared) > 1)
    def a_table_goes(self, name: str) -> None:
        if name in self.declared:
            self.away[name] = self.declared.pop(name)
            self.world.declare(self.texts())

    @rule(at=st.integers(0, 9))
    @precondition(lambda self: self.away)
    def a_table_comes_back(self, at: int) -> None:
        name = sorted(self.away)[at % len(self.away)]
        self.the_project_changes(name, self.away.pop(name))

    @rule()
    def the_center_starts_again(self) -> None:
        self.world.declare(self.texts())

    @rule(is_down=st.booleans())
    def dagster_goes_down_or_comes_back(self, *, is_down: bool) -> None:
        """The center has noted a launch that Dagster does not know, until it is asked for again."""
        self.world.runs.is_down = is_down

    @rule(minutes=st.sampled_from([1, 6, 60]))
    def time_passes(self, minutes: int) -> None:
        self.world.now += timedelta(minutes=minutes)

    @rule()
    def everything_settles(self) -> None:
        """Everybody is done: runs end well, backfills go on, what is asked is answered, what failed is retried."""
        self.cancelled.clear()
        self.world.runs.is_down = False
        self.over_in_dagster, self.in_dagster = [*self.over_in_dagster, *self.in_dagster], []
        for _ in range(80):
            for row in self.world.stored.rows([BackfillPhase.PAUSED]):
                self.world.act(row.number, BackfillAction.RESUME)
            for row in self.world.stored.rows([BackfillPhase.RUNNING]):
                self.world.stored.answer(row.number, None, rebuild=True)
            for slice_ in self.there():
                self.somebody_sees_to(slice_)
            last = self.world.store.read.last()
            self.tick()
            for name in [name for name in self.writers if self.world.graph.has(Slice.parse(name))]:
                self.end(name, "completed")
            self.world.later(minutes=6)
            if self.world.store.read.last() == last and not self.open_backfills():
                break
        else:
            raise AssertionError("it does not come to an end")
        for slice_ in self.there():
            self.require_sound(slice_)

    def somebody_sees_to(self, slice_: Slice) -> None:
        status = self.world.status(str(slice_))
        if not is_computed_here(self.world.graph, slice_):
            if status.run_state in (RunState.WAITING, RunState.ABSENT, RunState.FAILED):
                self.world.tell(str(slice_), "observed")
        elif status.run_state is RunState.FAILED:
            self.world.tell(str(slice_), "retried")
        elif status.run_state is RunState.ABSENT or (status.run_state is RunState.COMPLETED and status.is_flawed):
            self.world.tell(str(slice_), "backfill_requested")

    def open_backfills(self) -> bool:
        return bool(self.world.stored.rows([BackfillPhase.RUNNING, BackfillPhase.CANCELLING]))

    def require_sound(self, slice_: Slice) -> None:
        """It is there, and computed from what is there now, or it says why not."""
        status = self.world.status(str(slice_))
        if not is_computed_here(self.world.graph, slice_):
            return
        assert status.run_state is RunState.COMPLETED, f"{slice_}: {status}, {self.world.events(str(slice_))}"
        reads = self.reads(slice_)
        if status.run_state is RunState.COMPLETED and "partial" not in status.states and reads:
            assert not unread_needs(self.world.graph, slice_, reads), f"{slice_} has read {reads}"
        if status.tainted or "partial" in status.states:
            return
        policy = self.world.graph.entity(slice_.entity).reprocess
        told = later_inputs(self.world.store, slice_, policy)
        for used, read, now in self.stale_inputs(slice_):
            is_kept = self.is_kept(used, read, policy) or (slice_, used, now) in self.kept
            assert is_kept or self.was_cancelled(used, slice_), f"{slice_} ({policy.value}) has {read} of {used}: {now}"
            assert any(words.startswith(f"{used} has") and ": " in words for words in told), told

    def reads(self, slice_: Slice) -> dict[Slice, int]:
        return dict(self.world.store.read.reads([slice_]).get(slice_) or ())

    def stale_inputs(self, slice_: Slice) -> list[tuple[Slice, int, int]]:
        """Needed inputs, with the generation that the slice has read, and a later one that is there."""
        reads = self.reads(slice_)
        needed = {used for clause in self.world.graph.requirements(slice_) for used in clause.slices}
        there = [(used, reads[used], self.world.status(str(used))) for used in needed & reads.keys()]
        is_there = RunState.COMPLETED
        return [
            (used, read, now.generation)
            for used, read, now in there
            if now.run_state is is_there and now.generation > read
        ]

    def is_kept(self, used: Slice, read: int, policy: Reprocess) -> bool:
        """Whether the policy of a reader keeps it: always, or because each run since brought the same rows."""
        later = range(read + 1, self.world.status(str(used)).generation + 1)
        has_same_rows = all((str(used), generation) in self.same for generation in later)
        return policy is Reprocess.NEVER or (policy is not Reprocess.ALWAYS and has_same_rows)

    def was_cancelled(self, used: Slice, reader: Slice) -> bool:
        """Whether a backfill that was cancelled, and held the reader, has computed an input again.

        A backfill in Dagster's pages may end without some of its slices too.
        """
        for row in self.world.stored.rows():
            why = {member.slice: member.why for member in self.world.stored.members(row.number)}
            if used in why and why.get(reader) == "its backfill in Dagster ended without it":
                return True
        history = self.world.store.read.history(used)
        begun = next((step for step in reversed(history) if row_of(step.event).new_generation), None)
        if begun is None or not begun.event_id.startswith("backfill:"):
            return False
        number = int(begun.event_id.split(":")[1])
        members = {row.slice for row in self.world.stored.members(number)}
        return reader in members and self.world.phase(number) == "cancelled"

    @invariant()
    def it_is_counted(self) -> None:
        type(self).steps += hasattr(self, "world")

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.everything_settles()
            self.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _play(examples: int, steps: int, begins_with: int | None = None) -> int:
    """The number of steps that were played."""
    machine: type[PeopleAndChanges] = type("Machine", (PeopleAndChanges,), {})
    run_state_machine_as_test(
        machine if begins_with is None else seed(begins_with)(machine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.generate),
        ),
    )
    return machine.steps


def test_people_and_changes() -> None:
    assert _play(4, 12) > 4


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed_", [1, 2, 3])
def test_people_and_changes_for_long(seed_: int) -> None:
    assert _play(520, 40, seed_) >= 17_000
