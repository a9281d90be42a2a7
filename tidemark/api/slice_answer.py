"""Everything about one slice, in the JSON of `GET /v1/explanation` and of `tidemark explain --json`.

Times are in UTC, ISO 8601. Null means unknown.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from tidemark.api.explanation import ExplanationModel, explanation_model
from tidemark.api.slice_background import explained_slice
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.state_store.slice_deliveries import delivery_data

if TYPE_CHECKING:
    from tidemark.api.slice_background import Background
    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.readiness.explanation import Explanation
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.transition import Transition


class _AnswerPart(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class ColumnRangeModel(_AnswerPart):
    """The smallest and the largest value of a column, as texts."""

    minimum: str
    maximum: str


class SliceReadModel(_AnswerPart):
    """Slices of one upstream entity that were read in one generation, and the version of the table.

    `watermarks` are the high watermarks of the last one, by name.
    """

    first: str
    last: str
    slices: int
    generation: int
    version: int | None
    watermarks: dict[str, Any]


class SliceRecordModel(_AnswerPart):
    """The last computation of the slice. `run_id` is the run's id in Dagster, `cluster` the pool that it ran in.

    `columns` are measured by the profile; `batch_id`, `minimum`, `maximum`, `watermarks` and `parameters` are reported
    by the run, the probe or the other system.
    """

    completed_at: datetime
    who: str
    run_id: str | None
    rows: int | None
    size_bytes: int | None
    version: int | None
    seconds: float | None
    read: list[SliceReadModel]
    cluster: str | None
    batch_id: str | None
    minimum: str | None
    maximum: str | None
    columns: dict[str, ColumnRangeModel]
    watermarks: dict[str, Any]
    parameters: dict[str, Any]


class TaintModel(_AnswerPart):
    """The author, reason and time of a taint."""

    who: str
    why: str
    since: datetime


class ChainLinkModel(BaseModel):
    """A slice on the path from the waiting one to the cause: it lacks `missing` of its `inputs`.

    `next` is the next input of the chain; null for the last slice, which is the cause.
    """

    slice: str
    run_state: str
    inputs: int
    missing: int
    next: str | None


class RuleModel(_AnswerPart):
    """The last result of a rule; `measured` are its figures by name."""

    rule: str
    severity: str
    outcome: str
    expected: str
    reason: str
    measured: dict[str, Any]
    judged_at: datetime


class LifeEventModel(BaseModel):
    """An event of the slice, and its status afterwards."""

    seq: int
    at: datetime
    event: str
    run_state: str
    generation: int
    valid: bool
    tainted: bool
    who: str
    why: str
    run_id: str | None


class EntityFaceModel(BaseModel):
    """Facts about the slice's entity; `period` is null without one."""

    name: str
    layer: str
    kind: str
    owner: str
    period: str | None
    time_zone: str
    tags: dict[str, str]


class SliceAnswerModel(ExplanationModel):
    """The explanation of a slice with its background.

    `chain` goes from the slice to the cause of its wait, and `because` says why the cause is missing. `held_back` has
    the reasons why slices are not used, `failure` the reason of this slice's failure. `outdated` has the inputs that
    were computed again since this slice read them, and why this slice was not. `life` has the newest 500 events,
    the oldest first. `runs_url` is the address of runs, to be followed by a run's id; empty without Dagster's pages.
    """

    of_entity: EntityFaceModel
    chain: list[ChainLinkModel]
    because: list[str]
    held_back: dict[str, list[str]]
    failure: list[str]
    outdated: list[str]
    record: SliceRecordModel | None
    taint: TaintModel | None
    rules: list[RuleModel]
    life: list[LifeEventModel]
    replicas: list[dict[str, Any]]
    refreshed: list[dict[str, Any]]
    runs_url: str


def slice_answer(stands: WarehouseStatus, slice_: Slice, state: str = COMPLETED) -> SliceAnswerModel:
    """Everything about one slice, as of `stands.now`. Raises ParseError, UnknownEntityError and StateStoreDownError."""
    return answer_model(stands, *explained_slice(stands, slice_, state))


def answer_model(stands: WarehouseStatus, explanation: Explanation, background: Background) -> SliceAnswerModel:
    """The answer from an explanation and its background."""
    graph = stands.warehouse.graph
    model = explanation_model(
        explanation,
        exists=graph.exists(explanation.slice),
        status_of=stands.known.status if stands.known else None,
    )
    return SliceAnswerModel(
        **{name: getattr(model, name) for name in ExplanationModel.model_fields},
        of_entity=_entity(graph.entity(explanation.slice.entity)),
        chain=_chain(background),
        because=list(background.because),
        held_back={str(slice_): list(reasons) for slice_, reasons in background.held_back.items()},
        failure=list(background.failure),
        outdated=list(background.outdated),
        record=SliceRecordModel.model_validate(background.record) if background.record else None,
        taint=TaintModel.model_validate(background.taint) if background.taint else None,
        rules=list(map(RuleModel.model_validate, background.rules)),
        life=list(map(_life_event, background.life)),
        replicas=[{"replica": place, **copy.as_data()} for place, copy in background.copies.items()],
        refreshed=[{"target": name, **delivery_data(told)} for name, told in background.deliveries.items()],
        runs_url=stands.runs_url,
    )


def _entity(entity: Entity) -> EntityFaceModel:
    return EntityFaceModel(
        name=entity.name,
        layer=entity.layer,
        kind=entity.kind.value,
        owner=entity.owner,
        period=None if entity.period is None else str(entity.period),
        time_zone=entity.time_zone,
        tags=dict(entity.tags),
    )


def _chain(background: Background) -> list[ChainLinkModel]:
    names = [str(link.slice) for link, _ in background.chain]
    return [
        ChainLinkModel(
            slice=name,
            run_state=status.run_state.value,
            inputs=link.inputs,
            missing=len(link.missing),
            next=names[at + 1] if at + 1 < len(names) else None,
        )
        for at, (name, (link, status)) in enumerate(zip(names, background.chain, strict=True))
    ]


def _life_event(step: Transition) -> LifeEventModel:
    status = step.status
    return LifeEventModel(
        seq=step.seq,
        at=step.event_time,
        event=step.event.value,
        run_state=status.run_state.value,
        generation=status.generation,
        valid=status.valid,
        tainted=status.tainted,
        who=step.who,
        why=step.why,
        run_id=step.run_in_dagster or step.facts.run_id,
    )
