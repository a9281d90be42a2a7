"""Two centers under random losses, cut links, take-overs and returns: nothing is computed twice or lost."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.seeds import chunks
from tidemark.dependency_model.failover import Permission, SeenTerm, Term, first_term, next_term, permission
from tidemark.dependency_model.failover.term import is_alone, may_begin, newest

FENCE = timedelta(seconds=60)
BEGUN = datetime(2026, 3, 30, tzinfo=UTC)
SLICES = range(20)
OTHER = {"a": "b", "b": "a"}


def seen(term: Term, after: float = 0, *, handed: bool = False, begun: int = 1) -> SeenTerm:
    return SeenTerm(term, handed, BEGUN + timedelta(seconds=after), begun)


def test_a_center_needs_a_recent_look() -> None:
    first = first_term("a")
    assert permission(None, "a", BEGUN, FENCE) is Permission.UNSURE
    assert permission(seen(first), "a", BEGUN + FENCE, FENCE) is Permission.HOLDS
    assert permission(seen(first), "a", BEGUN + FENCE + timedelta(seconds=1), FENCE) is Permission.UNSURE
    assert permission(seen(first, after=1), "a", BEGUN, FENCE) is Permission.UNSURE  # its clock was set back


@pytest.mark.parametrize(("is_lost", "before"), [(True, Permission.FENCED), (False, Permission.HANDS_OVER)])
def test_the_next_holder_begins_after_the_one_before_has_stopped(is_lost: bool, before: Permission) -> None:
    second = next_term(first_term("a"), "b", BEGUN, is_lost=is_lost)
    assert permission(seen(second), "a", BEGUN, FENCE) is before
    assert permission(seen(second), "b", BEGUN, FENCE) is Permission.WAITS
    assert not may_begin(seen(second), BEGUN + FENCE, FENCE)
    assert may_begin(seen(second), BEGUN + 2 * FENCE, FENCE) is is_lost
    assert may_begin(seen(second, handed=True), BEGUN, FENCE)
    assert permission(seen(second, handed=True), "a", BEGUN, FENCE) is Permission.FENCED
    assert permission(seen(second, begun=2), "b", BEGUN, FENCE) is Permission.HOLDS


@dataclass
class Lake:
    """A lake: its records of terms, the fence in its log, and who computed each slice in it, in which term."""

    terms: list[Term] = field(default_factory=lambda: [first_term("a")])
    handed: set[int] = field(default_factory=set)
    rejoined: set[int] = field(default_factory=set)
    fence: int = 1
    slices: dict[int, tuple[str, int]] = field(default_factory=dict)


@dataclass
class Center:
    """`known` are slices that its state store has as complete, `runs` its runs with their terms."""

    name: str
    is_up: bool = True
    look: SeenTerm | None = None
    begun: int = 1
    known: set[int] = field(default_factory=set)
    runs: dict[int, int] = field(default_factory=dict)
    copying: tuple[int, int] | None = None


class TwoCenters:
    """A model of the world around the functions. Each step is one that a process can be killed after."""

    def __init__(self, seed: int) -> None:
        self.chance, self.now = random.Random(seed), BEGUN
        self.lakes = {"a": Lake(), "b": Lake()}
        self.centers = {"a": Center("a"), "b": Center("b")}
        self.is_linked = True
        self.commits: list[tuple[int, str, int]] = []

    def permission(self, center: Center) -> Permission:
        return permission(center.look and replace(center.look, begun=center.begun), center.name, self.now, FENCE)

    def term(self, center: Center) -> int:
        return center.look.term.number if center.look else 0

    def look(self, center: Center) -> None:
        """A look at all lakes. Only the lake of a center that was lost may be missing, until it was seen again."""
        own, visible = self.lakes[center.name], self.visible(center)
        term = newest(term for lake in visible for term in lake.terms)
        if len(visible) == len(self.lakes) or is_alone(term, center.name, is_rejoined=term.number in own.rejoined):
            handed = any(term.number in lake.handed for lake in visible)
            center.look = SeenTerm(term, handed, self.now)
            for lake in visible:
                if term not in lake.terms:
                    lake.terms.append(term)
                if term.holder == center.name and len(visible) == len(self.lakes):
                    lake.rejoined.add(term.number)

    def visible(self, center: Center) -> list[Lake]:
        return [lake for name, lake in self.lakes.items() if name == center.name or self.is_linked]

    def launch(self, center: Center) -> None:
        waiting = [slice_ for slice_ in SLICES if slice_ not in center.known and slice_ not in center.runs]
        if waiting and self.permission(center) is Permission.HOLDS:
            center.runs[self.chance.choice(waiting)] = self.term(center)

    def commit(self, center: Center) -> None:
        if not center.runs:
            return
        slice_, _ = center.runs.popitem()
        if self.permission(center).may_finish and slice_ not in center.known:
            if self.permission(center) is Permission.HOLDS:
                later = [other.begun for other in self.centers.values() if other is not center]
                assert max(later) < self.term(center) or self.term(center) == 1 == max(later)
            self.commits.append((slice_, center.name, self.held_term(center)))
            self.lakes[center.name].slices[slice_] = (center.name, self.held_term(center))
            center.known.add(slice_)

    def held_term(self, center: Center) -> int:
        """A center that hands over works in the term before."""
        return self.term(center) - (self.permission(center) is Permission.HANDS_OVER)

    def replicate(self, center: Center) -> None:
        """Copy one slice. Its process may stop for any time before the commit."""
        own, there = self.lakes[center.name], self.lakes[OTHER[center.name]]
        if self.is_linked and self.permission(center).may_finish and center.copying is None:
            open_ = [
                slice_
                for slice_, told in own.slices.items()
                if told[0] == center.name and (slice_ not in there.slices or told[1] > there.slices[slice_][1])
            ]
            center.copying = (self.chance.choice(open_), self.held_term(center)) if open_ else None

    def publish(self, center: Center) -> None:
        """The commit is refused if the log has the fence of a later term."""
        other = OTHER[center.name]
        if self.is_linked and center.copying is not None:
            slice_, term = center.copying
            if self.lakes[other].fence <= term:
                assert self.centers[other].begun <= term
                self.lakes[other].slices[slice_] = self.lakes[center.name].slices[slice_]
            center.copying = None

    def observe(self, center: Center) -> None:
        """A center that does not hold the flows sees what was published in its lake."""
        if self.permission(center) is not Permission.HOLDS:
            center.known |= self.lakes[center.name].slices.keys()

    def hand_over(self, center: Center) -> None:
        own, there = self.lakes[center.name], self.lakes[OTHER[center.name]]
        is_drained = not center.runs and all(
            slice_ in there.slices and there.slices[slice_][1] >= told[1] for slice_, told in own.slices.items()
        )
        if self.permission(center) is Permission.HANDS_OVER and self.is_linked and is_drained:
            there.handed.add(self.term(center))

    def take_over(self, center: Center, *, is_lost: bool) -> None:
        own = self.lakes[center.name]
        present = newest(term for lake in self.visible(center) for term in lake.terms)
        is_alone_there = is_alone(present, present.holder, is_rejoined=present.number in own.rejoined)
        if present.holder == center.name or not (self.is_linked or (is_lost and not is_alone_there)):
            return
        term = next_term(present, center.name, self.now, is_lost=is_lost)
        for lake in self.visible(center):
            lake.terms.append(term)

    def begin(self, center: Center) -> None:
        """As the product: fence the log, then take in what was published, then begin."""
        self.look(center)
        if self.permission(center) is Permission.WAITS and center.look and may_begin(center.look, self.now, FENCE):
            own = self.lakes[center.name]
            own.fence = self.term(center)
            center.known = set(own.slices)
            center.runs.clear()
            center.begun = self.term(center)

    def crash(self, center: Center) -> None:
        """A killed process loses what is in memory; a lost center also its running runs."""
        center.is_up, center.look = False, None
        if self.chance.random() < 0.5:
            center.runs.clear()

    def step(self) -> None:
        center = self.chance.choice(list(self.centers.values()))
        self.now += timedelta(seconds=self.chance.choice([0, 0, 0, 1, 1, 2, 5, 10, 70]))
        what = self.chance.random()
        if what < 0.05:
            self.is_linked = not self.is_linked
        elif what < 0.08:
            self.crash(center)
        elif what < 0.14:
            center.is_up = True
        elif what < 0.165:
            # A person declares a center lost only after it, or the way to it, is lost.
            other = self.centers[OTHER[center.name]]
            self.take_over(center, is_lost=not other.is_up or not self.is_linked)
        elif center.is_up:
            if self.chance.random() < 0.7:
                self.look(center)
            works = (
                self.launch,
                self.launch,
                self.commit,
                self.replicate,
                self.commit,
                self.replicate,
                self.observe,
                self.hand_over,
                self.begin,
            )
            self.chance.choice(works)(center)

    def heal(self) -> None:
        """Everything comes back, and the processes go on as long as anything is open."""
        self.is_linked = True
        for center in self.centers.values():
            center.is_up = True
        for _ in range(60):
            self.now += timedelta(seconds=10)
            for center in self.centers.values():
                self.look(center)
                for work in (
                    self.launch,
                    self.commit,
                    self.replicate,
                    self.publish,
                    self.observe,
                    self.hand_over,
                    self.begin,
                ):
                    work(center)


@pytest.mark.parametrize("seed", chunks(1, 250, 1_000))
def test_no_slice_is_computed_by_two_centers_in_one_term_and_none_is_lost(seed: int) -> None:
    for case in range(seed, seed + 250):
        world = TwoCenters(case)
        for _ in range(150):
            world.step()
        world.heal()
        holder = world.centers[newest(world.lakes["a"].terms).holder]
        assert holder.known == set(SLICES), case
        assert len(set(world.commits)) == len(world.commits), case
        was_lost = any(term.is_lost for term in world.lakes["a"].terms)
        if not was_lost:
            assert len({slice_ for slice_, _, _ in world.commits}) == len(world.commits), case
