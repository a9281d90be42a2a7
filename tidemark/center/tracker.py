"""What a driven engine knows and does slice by slice, on a dependency center."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.center.fact import Fact
from tidemark.dependency_model.readiness.release import accepts
from tidemark.dependency_model.status import Event, Life
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.slice import Slice


class SliceTracker:
    """Asks the center for the neighbours only, and tells it what the steps of a run did."""

    def __init__(self, center: DependencyCenter) -> None:
        self._center = center
        self.in_company: set[str] = set()
        """Keys of runs over several slices in which a step failed: they run one by one from then on."""

    @property
    def completed(self) -> frozenset[Slice]:
        """Everything complete so far."""
        return frozenset(piece for piece, _ in self._center.completed())

    @property
    def failed(self) -> frozenset[Slice]:
        """Slices whose last run failed; they are not offered again."""
        return frozenset(self._center.failed())

    def ready(self) -> tuple[Slice, ...]:
        """Slices all of whose inputs are there, in the order in which they became so."""
        return tuple(self._center.ready())

    def missing(self, piece: Slice) -> tuple[Slice, ...]:
        """The inputs that a slice still waits for."""
        status = self._center.status
        clauses = self._center.graph.requirements(piece)
        return tuple(one for clause in clauses for one in clause.slices if not accepts(clause.dependency, status(one)))

    def is_complete(self, piece: Slice) -> bool:
        """Whether the slice is there."""
        return self._center.status(piece).life is Life.COMPLETED

    def start(self, pieces: Sequence[Slice], run_id: str) -> None:
        """A run's step began: launched and started are one."""
        self._tell(Event.STARTED, self._center.launch(pieces, run_id, "default"), run_id)

    def complete(self, pieces: Sequence[Slice], run_id: str) -> None:
        """A step ended well; its checks have passed."""
        self._tell(Event.COMPLETED, pieces, run_id)
        with_rules = [one for one in pieces if self._center.graph.entity(one.entity).quality]
        self._tell(Event.QUALITY_PASSED, with_rules, run_id)

    def fail(self, pieces: Sequence[Slice], run_id: str) -> None:
        """A step failed."""
        self._tell(Event.FAILED, pieces, run_id)

    def retry(self, pieces: Sequence[Slice], why: str) -> None:
        """Failed slices may try again at once."""
        self._tell(Event.RETRIED, pieces, why)

    def _tell(self, event: Event, pieces: Sequence[Slice], run_id: str) -> None:
        if not pieces:
            return
        now, data = datetime.now(UTC), Facts() if event is Event.RETRIED else Facts(run_id=run_id)
        facts = [
            Fact(f"{run_id}:{event.value}:{piece}", piece, event, now, "engine", f"run {run_id}", data=data)
            for piece in pieces
        ]
        self._center.report(facts)
