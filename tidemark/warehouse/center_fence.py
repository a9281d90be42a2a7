"""The present permission of this center for flows that another center may have taken over.

Every process looks for itself, at most every `LOOK_SECONDS`, at the terms in its lake and in the lakes of all
stand-ins. The state store has the last look of any process, for processes whose own look fails, and the begun terms.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.failover import Permission, SeenTerm, Term, permission
from tidemark.dependency_model.failover.term import is_alone, newest
from tidemark.errors import TidemarkError
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.center_terms import CenterTerms, LakeTerms, TermMark
from tidemark.warehouse.errors import CenterFencedError, FenceUnseenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings

FENCE: Final = timedelta(seconds=60)
"""The age of a look at which it allows nothing more."""
LOOK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class AllTerms:
    """The records of the lakes that answer, by the name of the center; the troubles of others."""

    lakes: dict[str, CenterTerms]
    read: dict[str, LakeTerms]
    troubles: dict[str, str]

    @property
    def newest(self) -> Term:
        """The term that counts."""
        return newest(term for terms in self.read.values() for term in terms.terms)

    def has(self, mark: TermMark, number: int) -> bool:
        """Whether any lake has a mark."""
        return any((mark, number) in terms.marks for terms in self.read.values())


@dataclass
class CenterFence:
    """The fence of one process. Thread-safe. `clock` is aware.

    With `is_watched` another thread calls `refresh`, and no caller of other methods waits for a lake.
    """

    settings: Settings
    database: Database
    clock: Callable[[], datetime] = utc_now
    fence: timedelta = FENCE
    is_watched: bool = False
    troubles: dict[str, str] = field(default_factory=dict)
    """Why the last look at the terms of a center's flows failed."""
    _looks: dict[str, SeenTerm] = field(default_factory=dict)
    _tried: dict[str, datetime] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def permission(self, flows: str | None) -> Permission:
        """The permission for the flows of a center; everything is allowed for tables without a center.

        Raises StateStoreDownError.
        """
        return Permission.HOLDS if flows is None else permission(*self._known(flows), self.clock(), self.fence)

    def may_launch(self, flows: str | None) -> bool:
        """Whether runs of these flows may be started."""
        return self.permission(flows) is Permission.HOLDS

    def require_may_finish(self, flows: str | None) -> int:
        """The number of the term in which runs may commit and slices may be replicated.

        Raises CenterFencedError, FenceUnseenError and StateStoreDownError.
        """
        if flows is None:
            return 1
        seen, center = self._known(flows)
        allowed = permission(seen, center, self.clock(), self.fence)
        if seen is None or allowed is Permission.UNSURE:
            raise FenceUnseenError.of(flows, [self.troubles[flows]] if flows in self.troubles else [])
        if not allowed.may_finish:
            raise CenterFencedError.of(seen.term, center)
        return seen.term.number - (allowed is Permission.HANDS_OVER)

    def seen(self, flows: str) -> SeenTerm | None:
        """The newest look."""
        return self._known(flows)[0]

    def read(self, flows: str) -> AllTerms:
        """The records of all lakes of this center and its stand-ins, as far as they answer."""
        lakes = {self.settings.center: CenterTerms(self.settings.warehouse, flows)}
        for declared in self.settings.replicas:
            if declared.stand_in:
                lakes[declared.name] = CenterTerms(declared.place(self.settings.root).lake, flows)
        read, troubles = dict[str, LakeTerms](), dict[str, str]()
        for name, lake in lakes.items():
            try:
                if not lake.exists and Notes(self.database, _SEEN_LAKES).get(str(lake.lake)):
                    raise FileNotFoundError(f"the folder {lake.lake} is gone")
                read[name] = lake.read()
                if lake.exists:
                    Notes(self.database, _SEEN_LAKES).add(str(lake.lake), "{}")
            except (TidemarkError, OSError) as error:
                troubles[name] = f"{name}: {error}"
        return AllTerms(lakes, read, troubles)

    def look(self, flows: str) -> SeenTerm:
        """Look at all lakes, copy the newest term to lakes without it, and store the look.

        Raises FenceUnseenError if a lake does not answer that is needed, and StateStoreDownError.
        """
        begun, center, told = self.clock(), self.settings.center, self.read(flows)
        term = told.newest if told.read else None
        is_rejoined = term is not None and told.has(TermMark.REJOINED, term.number)
        needed = {term.before} if term and is_alone(term, center, is_rejoined=is_rejoined) else set[str]()
        if term is None or told.troubles.keys() - needed:
            raise FenceUnseenError.of(flows, list(told.troubles.values()))
        self._copy(told, term)
        seen = SeenTerm(term, told.has(TermMark.HANDED, term.number), begun, self.begun(flows))
        Notes(self.database, _LOOKS).put({flows: _looked(seen)})
        self._looks[flows] = seen
        return seen

    def refresh(self, all_flows: Iterable[str]) -> None:
        """Look again at the flows of some centers. Errors are in `troubles`. Raises StateStoreDownError."""
        for flows in all_flows:
            self._look_if_possible(flows)

    def asked_at(self, term: Term) -> datetime:
        """When this center first knew that it has to hand over. Raises StateStoreDownError."""
        name = f"{term.flows} {term.number}"
        return datetime.fromisoformat(Notes(self.database, _ASKED).add(name, self.clock().isoformat()))

    def leave(self, seen: SeenTerm) -> None:
        """Note that this center has handed over: from now on nothing is allowed. Raises StateStoreDownError."""
        left = replace(seen, is_handed=True)
        Notes(self.database, _LOOKS).put({seen.term.flows: _looked(left)})
        self._looks[seen.term.flows] = left

    def begin(self, term: Term) -> None:
        """Note that this center has begun a term."""
        Notes(self.database, _BEGUN).put({term.flows: str(term.number)})
        self._looks.pop(term.flows, None)

    def _copy(self, told: AllTerms, term: Term) -> None:
        """Copy the term, and say that both lakes were seen again; this center's own lake has it first."""
        is_whole = not told.troubles and term.is_lost and term.holder == self.settings.center
        for name, lake in told.lakes.items():
            if name in told.read and term.number > 1 and term not in told.read[name].terms:
                lake.add(term)
            if is_whole and (TermMark.REJOINED, term.number) not in told.read[name].marks:
                lake.mark(term.number, TermMark.REJOINED)

    def _known(self, flows: str) -> tuple[SeenTerm | None, str]:
        """The newest look of this process, or of any, and the name of this center."""
        with self._lock:
            now = self.clock()
            tried = self._tried.get(flows)
            is_due = tried is None or not tried <= now < tried + timedelta(seconds=LOOK_SECONDS)
            if is_due and not self.is_watched:
                self._tried[flows] = now
                self._look_if_possible(flows)
            return self._looks.get(flows), self.settings.center

    def _look_if_possible(self, flows: str) -> None:
        try:
            self.look(flows)
            self.troubles.pop(flows, None)
        except (FenceUnseenError, OSError) as error:
            self.troubles[flows] = str(error)
            stored = Notes(self.database, _LOOKS).get(flows)
            other = _look_of(stored) if stored else None
            mine = self._looks.get(flows)
            if other is not None and (mine is None or other.seen_at > mine.seen_at):
                self._looks[flows] = replace(other, begun=self.begun(flows))

    def begun(self, flows: str) -> int:
        """The last term that this center has begun to hold. Raises StateStoreDownError."""
        return int(Notes(self.database, _BEGUN).get(flows) or 1)


_LOOKS: Final = "center term"
_BEGUN: Final = "center term begun"
_ASKED: Final = "center term asked"
_SEEN_LAKES: Final = "center lake"


def _looked(seen: SeenTerm) -> str:
    return json_text({"term": seen.term.as_record(), "is_handed": seen.is_handed, "seen_at": seen.seen_at.isoformat()})


def _look_of(content: str) -> SeenTerm:
    told = json.loads(content)
    return SeenTerm(Term.of_record(told["term"]), told["is_handed"], datetime.fromisoformat(told["seen_at"]))


def flow_troubles(fence: CenterFence, holders: Mapping[str, str]) -> list[str]:
    """Sentences about flows whose holder changed since a process started, or is not known. `holders` as at its start.

    Raises StateStoreDownError.
    """
    troubles = list[str]()
    for flows, holder in sorted(holders.items()):
        allowed, seen = fence.permission(flows), fence.seen(flows)
        own = fence.settings.center
        if allowed is Permission.UNSURE and holder == own:
            troubles.append(f"{FenceUnseenError.of(flows, fence.troubles.get(flows, '').splitlines())}")
        elif seen is not None and seen.term.holder != holder:
            who = "this center" if seen.term.holder == own else seen.term.holder
            troubles.append(
                f"{who} has taken over the flows of {flows} in term {seen.term.number}: restart this process"
            )
        elif allowed is Permission.WAITS:
            troubles.append(f"the take-over of {flows} has not begun: run `tidemark take-over {flows}` again")
    return troubles
