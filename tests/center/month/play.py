"""A month of other programs: deliveries, corrections, late rows, deletions and wrong reports, drawn by a seed.

After each burst the world settles, and `require_sound` compares every slice with what the programs know that they
wrote. In the end all mistakes are corrected: then nothing is missing, flagged or old.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tests.center.month.hosts import RESTART, DagsterRuns, Host
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.center.month.places import Place, Rows
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.status import SliceStatus

FIRST: Final = date(2026, 3, 2)
COUNTED: Final = "counted"
STRICT: Final = "strict"
LEAST: Final = 2
"""Rows of `strict`, by its rule."""
HOURLY: Final = frozenset({"hourly", COUNTED})
_DAY: Final = "period: day\n"
_ONE: Final = f"end: {FIRST + timedelta(days=1)}\n"
"""The hours of the first day alone."""
COMPUTED: Final = {
    "mixed": f"{_DAY}depends_on: [lake, drop, lines]\n",
    "money": f"{_DAY}depends_on: [shop, told]\n",
    "seen": f"{_DAY}depends_on: [marked, money]\n",
    "careful": f"{_DAY}depends_on: [{STRICT}]\n",
    "careless": f"{_DAY}depends_on: [{{entity: {STRICT}, quality: ignore}}]\n",
    "asking": f"{_DAY}reprocess: ask\ndepends_on: [{{entity: mixed, offset: 'Set -1,0'}}]\n",
    "balance": f"{_DAY}depends_on: [told, {{entity: balance, offset: Set -1}}]\n",
    "week": "period: week\ndepends_on: [mixed, seen]\n",
    "hours_day": f"{_DAY}{_ONE}depends_on: [hourly, {COUNTED}]\n",
}
_WRONG: Final = (
    *("observed", "started", "failed", "cancelled", "lost", "quality_failed", "quality_ignored", "quality_passed"),
    *("tainted", "kept", "backfill_requested", "deleted", "overwritten", "recovered", "released", "nonsense"),
)
"""Of slices that others make; of our own only those that say that something is wrong."""
_WRONG_OF_OURS: Final = (
    "tainted",
    "quality_failed",
    "backfill_requested",
    "requested",
    "retried",
    "lacking",
    "refused",
)
_QUIET_TICKS: Final = 3
_MOST_TICKS: Final = 20_000
_MOST_ROUNDS: Final = 12
_FLAWS: Final = frozenset({"partial", "foreign"})


def keys_of(name: str, days: int) -> list[str]:
    if name in HOURLY:
        return [f"{FIRST}T{hour:02}" for hour in range(24)]
    return [str(FIRST + timedelta(days=day)) for day in range(days)]


def declarations(places: Mapping[str, Place], days: int) -> dict[str, str]:
    """The files of the project, by name."""
    end = FIRST + timedelta(days=days)
    files = {"project": f"time_zone: UTC\nstart: {FIRST}\nend: {end}\nowner: data@school.example\n", **COMPUTED}
    for name, place in places.items():
        period = f"period: hour\n{_ONE}" if name in HOURLY else _DAY
        rule = f"quality: [{{row_count: {{min: {LEAST}}}}}]\n" if name == STRICT else ""
        files[name] = f"kind: Virtual\n{period}{rule}{place.probe}\n"
    return files


@dataclass
class Month:
    """`truth` is what the programs wrote last, `versions` all that they ever wrote, `lies` slices of wrong reports."""

    host: Host
    graph: DependencyGraph
    places: Mapping[str, Place]
    runs: DagsterRuns
    seed: int
    days: int
    events: int
    burst: int
    played: int = 0
    settled: int = 0
    compared: int = 0
    truth: dict[Slice, Rows] = field(default_factory=dict)
    versions: dict[Slice, list[Rows]] = field(default_factory=dict)
    lies: set[Slice] = field(default_factory=set)
    reads: dict[Slice, dict[Slice, Rows]] = field(default_factory=dict)
    pending: dict[Slice, dict[Slice, Rows]] = field(default_factory=dict)
    values: dict[Slice, Rows] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.outside = [Slice(name, key) for name in self.places for key in keys_of(name, self.days)]
        last = datetime.combine(FIRST, datetime.min.time(), UTC) + timedelta(days=self.days)
        self.ours = [slice_ for name in COMPUTED for slice_ in self.graph.slices(name, last)]

    def play(self) -> Iterator[str | None]:
        """See the module. Raises AssertionError with the history of the slice that is wrong."""
        yield None
        self._final_counts()
        for slice_ in self.chance.sample(self.outside, len(self.outside) * 3 // 4):
            self._put(slice_, self._rows())
        yield from self._settle()
        self.require_sound()
        while self.played < self.events:
            for _ in range(min(self.burst, self.events - self.played)):
                self._event()
                self._work()
                if self.chance.random() < 0.3:
                    yield None
            if self.chance.random() < 0.1:
                self._say("restart")
                yield RESTART
            yield from self._settle()
            self.require_sound()
        yield from self._set_right()

    # What other programs do.

    def _event(self) -> None:
        self.played += 1
        slice_ = self.chance.choice(self.outside)
        chance, is_there = self.chance.random(), slice_ in self.truth
        if chance < 0.12:
            self._lie(slice_)
        elif chance < 0.16:
            self._lie_of_ours()
        elif not is_there or chance < 0.55:
            self._put(slice_, self._rows())
        elif chance < 0.7:  # late rows
            self._put(slice_, [*self.truth[slice_], *self._rows()])
        elif chance < 0.8:  # away, and back at once
            self._remove(slice_)
            self._put(slice_, self._rows())
        else:
            self._remove(slice_)

    def _rows(self) -> Rows:
        return [self.chance.randrange(1, 1_000_000) for _ in range(self.chance.randint(1, 4))]

    def _put(self, slice_: Slice, rows: Rows) -> None:
        self._say(f"{slice_} = {rows}")
        place = self.places[slice_.entity]
        place.put(slice_.key, rows)
        self.truth[slice_] = rows
        self.versions.setdefault(slice_, []).append(rows)
        self.lies.discard(slice_)
        if slice_.entity == COUNTED:
            self._count(slice_, len(rows))
        if place.told:
            self._report(slice_, "observed", changed=True)
            if slice_.entity == STRICT:
                self._report(slice_, "quality_passed" if len(rows) >= LEAST else "quality_failed")

    def _remove(self, slice_: Slice) -> None:
        self._say(f"{slice_} is removed")
        self.places[slice_.entity].remove(slice_.key)
        del self.truth[slice_]
        self.lies.discard(slice_)
        if slice_.entity == COUNTED:
            self._count(slice_, 0)
        if self.places[slice_.entity].told:
            self._report(slice_, "deleted")

    def _lie(self, slice_: Slice) -> None:
        if self._report(slice_, self.chance.choice(_WRONG), run_id=self.chance.choice([None, "airflow-1"])) == 200:
            self.lies.add(slice_)

    def _lie_of_ours(self) -> None:
        self._report(self.chance.choice(self.ours), self.chance.choice(_WRONG_OF_OURS))

    def _report(self, slice_: Slice, event: str, **more: object) -> int:
        self.reported = getattr(self, "reported", 0) + 1
        body = {"subject": str(slice_), "event": event, "event_id": f"{self.reported}", **more}
        status = self.host.post("/v1/reports", {**body, "event_time": datetime.now(UTC).isoformat()})
        self._say(f"{slice_} reported {event} {more}: {status}")
        assert status in (200, 400, 409), status
        return status

    def _final_counts(self) -> None:
        end = datetime.combine(FIRST + timedelta(days=1), datetime.min.time(), UTC)
        assert self.host.post("/v1/counts", [{"of": COUNTED, "final_until": end.isoformat()}]) == 200

    def _count(self, slice_: Slice, records: int) -> None:
        count = {"of": COUNTED, "at": f"{slice_.key}:10:00Z", "records": records}
        sides = self.chance.sample(["source", "lake"], 2)
        for side in sides:
            assert self.host.post("/v1/counts", [{**count, "side": side}]) == 200

    def _say(self, text: str) -> None:
        self.history.append(f"{self.played} {text}")

    # What workers do.

    def _work(self, *, all_of_it: bool = False) -> None:
        """Runs read at one time and end at another one; some find nothing to read, and some fail."""
        for slice_ in list(self.runs.begun):
            if slice_ not in self.runs.begun:
                continue  # it failed with its run
            if slice_ not in self.pending and (all_of_it or self.chance.random() < 0.5):
                self._read(slice_)
            elif slice_ in self.pending and (all_of_it or self.chance.random() < 0.5):
                self.reads[slice_] = read = self.pending.pop(slice_)
                self.values[slice_] = _value(read)
                self._say(f"{slice_} is computed from {read}")
                self.runs.end(slice_)

    def _read(self, slice_: Slice) -> None:
        history = self.host.center.store.read.history(slice_)
        manifest = next(step.facts.manifest for step in reversed(history) if step.facts.manifest)
        used = [input_ for inputs in manifest.used_slices.values() for input_ in inputs]
        read = {input_.slice: self._open(input_.slice, input_.version) for input_ in used}
        missing = [str(input_) for input_, rows in read.items() if rows is None]
        if missing or self.chance.random() < 0.02:
            self._say(f"the run of {slice_} fails, without {missing}")
            for lost in self.runs.fail(slice_):
                self.pending.pop(lost, None)
        else:
            self.pending[slice_] = {input_: rows for input_, rows in read.items() if rows is not None}

    def _open(self, slice_: Slice, version: str) -> Rows | None:
        if slice_.entity in self.places:
            rows = self.places[slice_.entity].read(slice_.key, version)
            return [] if rows is None and slice_.entity == COUNTED else rows
        return self.values.get(slice_)

    # What has to hold.

    def _settle(self) -> Iterator[None]:
        """Until every look has seen what is there, and nothing goes on any more."""
        self.settled += 1
        begun, quiet, last = datetime.now(UTC), 0, -1
        for _ in range(_MOST_TICKS):
            self._work(all_of_it=True)
            self._retry()
            yield None
            center = self.host.center
            looked = all(
                known.sighting is not None and known.sighting.looks > 1 and known.sighting.at > begun
                for known in self.host.intake.outside._detector.crawler.watched()
            )
            is_idle = looked and not self.runs.begun and not center.ready()
            now = center.store.read.last()
            quiet, last = (quiet + 1 if is_idle and now == last else 0), now
            if quiet == _QUIET_TICKS:
                return
        raise AssertionError(f"seed {self.seed} does not settle: {self.runs.begun}, {self.host.center.ready()}")

    def _retry(self) -> None:
        """A person looks after what failed once its inputs are there, and not by a wrong report alone."""
        for slice_ in self.host.center.failed_slices():
            inputs = self._inputs(slice_)
            is_there = self.lies.isdisjoint(inputs) and all(_is_good(self._status(input_)) for input_ in inputs)
            if slice_ in self.ours and is_there:
                self._report(slice_, "retried")

    def _inputs(self, slice_: Slice) -> list[Slice]:
        return [input_ for clause in self.graph.requirements(slice_) for input_ in clause.slices]

    def _status(self, slice_: Slice) -> SliceStatus:
        return self.host.center.status(slice_)

    def require_sound(self, *, is_whole: bool = False) -> None:
        """Each slice is what the programs wrote, or says that it is not."""
        for slice_ in self.outside:
            if slice_ not in self.lies:
                self._require_outside(slice_, self._status(slice_))
        for slice_ in self.ours:
            self._require_ours(slice_, self._status(slice_), is_whole=is_whole)
        if is_whole:
            oracle = Oracle(self)
            for slice_ in self.ours:
                self._require(self.values[slice_] == oracle.value(slice_), slice_, "is not what the oracle says")

    def _require_outside(self, slice_: Slice, status: SliceStatus) -> None:
        is_there = slice_ in self.truth or slice_.entity == COUNTED
        self._require((status.run_state is RunState.COMPLETED) == is_there, slice_, "is not as its data")
        if slice_.entity == STRICT and is_there:
            holds = len(self.truth[slice_]) >= LEAST
            self._require((status.quality is Quality.PASSED) == holds, slice_, "is not as its rule says")

    def _require_ours(self, slice_: Slice, status: SliceStatus, *, is_whole: bool) -> None:
        inputs = self._inputs(slice_)
        if all(_is_good(self._status(input_)) for input_ in inputs):
            is_there = status.run_state is RunState.COMPLETED
            self._require(is_there, slice_, "is not computed, and its inputs are there")
        if is_whole:
            self._require(_is_good(status), slice_, "is flawed, and all is corrected")
        if not _is_good(status):
            return
        read = self.reads[slice_]
        self._require(read.keys() == {*inputs}, slice_, f"has read {sorted(map(str, read))}")
        for input_, rows in read.items():
            now = self._status(input_)
            is_loose = slice_.entity == "careless" and now.run_state is RunState.COMPLETED
            if _is_good(now) or is_loose:
                self.compared += 1
                there = self._there(input_)
                self._require(rows == there, slice_, f"has read {rows} of {input_}, where {there} is")
            elif input_.entity in self.places:
                known = [*self.versions.get(input_, []), *([[]] if input_.entity == COUNTED else [])]
                self._require(rows in known, slice_, f"has read {rows} of {input_}, which were never there")

    def _there(self, slice_: Slice) -> Rows | None:
        if slice_.entity in self.places:
            return self.truth.get(slice_, [] if slice_.entity == COUNTED else None)
        return self.values.get(slice_)

    def _require(self, holds: bool, slice_: Slice, words: str) -> None:
        if holds:
            return
        names = {str(slice_), *map(str, self._inputs(slice_) if slice_ in self.ours else ())}
        told = [line for line in self.history if any(name in line for name in names)]
        steps = [
            f"{step.slice} {step.seq} {step.event.value} {step.who} {step.why} -> {step.status}"
            for name in sorted(names)
            for step in self.host.center.store.read.history(Slice.parse(name))[-12:]
        ]
        raise AssertionError("\n".join([f"seed {self.seed}: {slice_} {words}", *told[-30:], *steps]))

    def _set_right(self) -> Iterator[None]:
        """All data comes once more, and a person answers what is asked: nothing is flawed then."""
        for slice_ in self.outside:
            self._put(slice_, [*self._rows(), *self._rows()])
        for _ in range(_MOST_ROUNDS):
            yield from self._settle()
            flawed = [slice_ for slice_ in self.ours if not _is_good(self._status(slice_))]
            for slice_ in flawed:
                state = self._status(slice_).run_state
                if state in (RunState.COMPLETED, RunState.ABSENT, RunState.FAILED):
                    self._report(slice_, "backfill_requested")
            if not flawed:
                break
        self.require_sound(is_whole=True)


class Oracle:
    """What each slice has to be, from what the programs wrote alone."""

    def __init__(self, month: Month) -> None:
        self._month, self._known = month, dict[Slice, "Rows"]()

    def value(self, slice_: Slice) -> Rows:
        if slice_ in self._month.truth:
            return self._month.truth[slice_]
        if slice_ not in self._known:
            self._known[slice_] = _value({input_: self.value(input_) for input_ in self._month._inputs(slice_)})
        return self._known[slice_]


def _value(read: Mapping[Slice, Rows]) -> Rows:
    """One row of a slice: how many rows there are below, and their sum, each input with another weight."""
    names = sorted({input_.entity for input_ in read})
    weights = {name: number for number, name in enumerate(names, 1)}
    return [sum(weights[input_.entity] * (1 + sum(rows)) for input_, rows in read.items()) % 1_000_000_007]


def _is_good(status: SliceStatus) -> bool:
    is_there = status.run_state is RunState.COMPLETED
    return is_there and status.valid and not status.tainted and _FLAWS.isdisjoint(status.states)
