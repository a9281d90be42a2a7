"""Terms: which center computes the flows of a center, since when, and what another center may still do.

A take-over begins the next term. In a hand-over, the holder before ends its runs, replicates its slices, and confirms
this. A *lost* center cannot confirm: it stops by itself, because it needs a recent look at the terms of all lakes for
each launch, commit and copy. The new holder therefore waits `LAPSE` times the age that a look may have (the lease of
Gray and Cheriton, "Leases", SOSP 1989, with durations instead of common clocks).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LAPSE: Final = 2
"""One age of a look for the other center, and one for the time that the record of the term needs to be written."""
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Permission(Enum):
    """The permission of a center for flows.

    `HOLDS`: everything. `HANDS_OVER`: end its runs and replicate their slices, and start nothing. `WAITS`: it is the
    next holder, and has not begun. `FENCED`: nothing, another center has them. `UNSURE`: nothing, until it has seen
    the terms of all lakes again.
    """

    HOLDS = "holds"
    HANDS_OVER = "hands over"
    WAITS = "waits"
    FENCED = "fenced"
    UNSURE = "unsure"

    @property
    def may_finish(self) -> bool:
        """Whether runs may commit and slices may be replicated."""
        return self in (Permission.HOLDS, Permission.HANDS_OVER)


@dataclass(frozen=True, slots=True)
class Term:
    """From this term on, `holder` computes the flows of the center `flows`, after the center `before`.

    `is_lost`: the holder before was declared lost. `begun_at` is aware; `who` and `why` are the person's.
    """

    flows: str
    number: int
    holder: str
    before: str = ""
    is_lost: bool = False
    begun_at: datetime = _NEVER
    who: str = ""
    why: str = ""

    def as_record(self) -> dict[str, Any]:
        """The fields as values of JSON."""
        return {**asdict(self), "begun_at": self.begun_at.isoformat()}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Term:
        """The reverse of `as_record`. Raises ValueError, TypeError and KeyError for another record."""
        return cls(**{**record, "begun_at": datetime.fromisoformat(record["begun_at"])})


@dataclass(frozen=True, slots=True)
class SeenTerm:
    """The newest term in all lakes as of `seen_at`, the start of the look; `is_handed`: the holder before has stopped.

    `begun` is the number of the last term that this center has begun to hold.
    """

    term: Term
    is_handed: bool
    seen_at: datetime
    begun: int = 1


def first_term(flows: str) -> Term:
    """The term before any take-over: a center computes its own flows."""
    return Term(flows, 1, flows)


def newest(terms: Iterable[Term]) -> Term:
    """The term that counts. Two centers may begin the same number while they cannot see each other."""
    return max(terms, key=lambda term: (term.number, term.begun_at, term.holder))


def next_term(present: Term, holder: str, now: datetime, *, is_lost: bool, who: str = "", why: str = "") -> Term:
    """The term in which `holder` takes the flows over."""
    return Term(present.flows, present.number + 1, holder, present.holder, is_lost, now, who, why)


def permission(seen: SeenTerm | None, center: str, now: datetime, fence: timedelta) -> Permission:
    """The permission of `center` now. `fence` is the age that its look at the terms may have."""
    if seen is None or not seen.seen_at <= now <= seen.seen_at + fence:
        return Permission.UNSURE
    term = seen.term
    if term.holder == center:
        return Permission.HOLDS if seen.begun >= term.number else Permission.WAITS
    is_asked = term.before == center and not term.is_lost and not seen.is_handed
    return Permission.HANDS_OVER if is_asked else Permission.FENCED


def may_begin(seen: SeenTerm, now: datetime, fence: timedelta) -> bool:
    """Whether the holder of the term may begin: the center before has stopped, by its word or by the time."""
    return seen.is_handed or (seen.term.is_lost and now >= seen.term.begun_at + LAPSE * fence)


def is_alone(term: Term, holder: str, *, is_rejoined: bool) -> bool:
    """Whether `holder` works without the lake of the center that was lost, until it has seen that lake again."""
    return term.holder == holder and term.is_lost and not is_rejoined
