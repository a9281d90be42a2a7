"""The origin, the history and the faults of a slice, which readiness does not know.

`tidemark explain` and `GET /v1/explanation` both use it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tidemark.api.later_inputs import later_inputs
from tidemark.api.slice_provenance import slice_record, taint_record
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.readiness.explanation import explain
from tidemark.dependency_model.readiness.overview import waiting_chain
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.dependency_model.status.flaws import flaws
from tidemark.state_store.rule_results import RuleResults
from tidemark.state_store.slice_copies import SliceCopies
from tidemark.state_store.slice_deliveries import SliceDeliveries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.api.slice_provenance import SliceRecord, TaintRecord
    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.readiness.explanation import Explanation
    from tidemark.dependency_model.readiness.overview import ChainLink
    from tidemark.dependency_model.refresh.delivery import SliceDelivery
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.rule_results import StoredRuleResult
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.state_store.transition import Transition

_DEPTH: Final = 4
_LIFE: Final = 500
_RULES: Final = 200
THERE: Final = frozenset({RunState.COMPLETED})


@dataclass(frozen=True)
class Background:
    """`chain` goes from the slice to the cause of its wait, with the reasons of that cause in `because`.

    `held_back` has the reasons why slices are not used. `life` has the slice's newest 500 events, the oldest first.
    `rules` has the last result of each rule. `outdated` names inputs that were computed again since.
    """

    held_back: Mapping[Slice, Sequence[str]] = field(default_factory=dict)
    record: SliceRecord | None = None
    taint: TaintRecord | None = None
    copies: Mapping[str, SliceCopy] = field(default_factory=dict)
    failure: Sequence[str] = ()
    deliveries: Mapping[str, SliceDelivery] = field(default_factory=dict)
    chain: Sequence[tuple[ChainLink, SliceStatus]] = ()
    because: Sequence[str] = ()
    life: Sequence[Transition] = ()
    rules: Sequence[StoredRuleResult] = ()
    outdated: Sequence[str] = ()


def explained_slice(stands: WarehouseStatus, slice_: Slice, state: str) -> tuple[Explanation, Background]:
    """A slice's explanation on the way to a state, with its background. Raises ParseError and UnknownEntityError."""
    graph = stands.warehouse.graph
    explanation = explain(graph, slice_, state=state, known=stands.known, now=stands.now, depth=_DEPTH)
    held_back = _held_back(stands, explanation)
    if explanation.status and (others := explanation.status.issues - {slice_}):
        held_back[slice_] = [*held_back.get(slice_, ()), *stands.broken_rules(others)]
    is_open = explanation.status is not None and explanation.status.run_state not in THERE
    idle = [stands.center_trouble] if is_open and stands.center_trouble else []
    if stands.store is None:
        return explanation, Background(held_back, failure=[*stands.failure(slice_), *idle])
    chain = waiting_chain(graph, slice_, stands.known, stands.now) if stands.known and graph.exists(slice_) else []
    entity, database = stands.warehouse.entities[slice_.entity], stands.store.database
    targets = dict.fromkeys(told.target for told in entity.refresh)
    copies = {place: SliceCopies(database, place, slice_.entity).of(slice_) for place in entity.replicate}
    deliveries = {name: SliceDeliveries(database, name, slice_.entity).of(slice_) for name in targets}
    life = stands.store.read.history(slice_)
    return explanation, Background(
        held_back,
        slice_record(stands.warehouse, stands.store, slice_) if life else None,
        taint_record(stands.store, slice_),
        {place: copy for place, copy in copies.items() if copy is not None},
        [*stands.failure(slice_), *idle],
        {name: delivery for name, delivery in deliveries.items() if delivery is not None},
        [(link, stands.status_of(link.slice)) for link in chain],
        _because(stands, chain[-1].slice) if is_open and chain else (),
        life[-_LIFE:],
        _rules(RuleResults(database), slice_),
        later_inputs(stands.store, slice_, entity.reprocess),
    )


def _because(stands: WarehouseStatus, cause: Slice) -> list[str]:
    """The reasons why the last slice of a chain is missing, in sentences."""
    status = stands.status_of(cause)
    told = [*stands.because(cause), *([] if status.run_state not in THERE else flaws(cause, status))]
    return told or stands.not_started_yet(cause)


def _rules(results: RuleResults, slice_: Slice) -> list[StoredRuleResult]:
    """The last result of each rule, by the name of the rule."""
    newest: dict[str, StoredRuleResult] = {}
    for result in results.newest(slice_.entity, slice_.key, most=_RULES):
        if result.slice == slice_:
            newest.setdefault(result.rule, result)
    return [newest[name] for name in sorted(newest)]


def _held_back(stands: WarehouseStatus, explanation: Explanation) -> dict[Slice, list[str]]:
    """The reasons why a slice is not used: its flaws, and why a captured one is missing."""
    deeper = (slice_ for clause in explanation.clauses for slice_ in clause.missing)
    reasons = {slice_: because for missing in deeper for slice_, because in _held_back(stands, missing).items()}
    is_there = explanation.status is None or explanation.status.run_state in THERE
    entity = stands.warehouse.graph.entity(explanation.slice.entity)
    if not is_there and entity.kind is EntityKind.VIRTUAL:
        reasons[explanation.slice] = stands.because(explanation.slice)
    if not is_there and stands.warehouse.is_snapshot(explanation.slice.entity):
        reasons[explanation.slice] = stands.snapshot_blockers(explanation.slice)
    if wait := stands.place_wait(explanation.slice):
        reasons[explanation.slice] = [wait]
    told = flaws(explanation.slice, explanation.status) if explanation.status else []
    if told and explanation.status:
        broken = stands.broken_rules(explanation.status.issues & {explanation.slice})
        reasons[explanation.slice] = [*reasons.get(explanation.slice, ()), *told, *broken]
    return reasons
