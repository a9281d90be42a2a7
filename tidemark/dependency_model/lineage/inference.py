"""Offsets from queries: the slices of each table that an entity's SQL reads, found by evaluating it over dates.

No rule looks at a condition's text. The conditions on a table's partition columns are evaluated at business times where
calendars are irregular: ends of months and years, leap days, clock changes, turns of weeks. Then the offset is sought
that names the same slices at all of these times. If there is none, the read is undecidable with a reason, and YAML must
state the dependency.

Source: seed capability A7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import (
    AGGREGATE,
    WINDOW,
    Opaque,
    Place,
    children,
    walk,
)
from tidemark.dependency_model.lineage.business_time_parameters import parameter_names
from tidemark.dependency_model.lineage.deep_stack import with_deep_stack
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, OutlinedTables, QuerySession, TimeColumns
from tidemark.dependency_model.lineage.failing_casts import refuse_failing_casts
from tidemark.dependency_model.lineage.inferred_read import Read, runs_by_time
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.slices_read import NO_CONDITION, Evaluation, NeededUnbounded
from tidemark.dependency_model.lineage.unknown_function import unknown_function
from tidemark.dependency_model.lineage.written_list import refuse_unwritable
from tidemark.dependency_model.offset.offset import SINCE_START, STATIC
from tidemark.dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.dependency_model.lineage.slices_read import Needed


UTC = QuerySession()
_NO_OFFSET = "no offset names the slices that it reads at every business time"


def infer(
    queries: Sequence[Query],
    downstream: EntityOutline,
    upstreams: Mapping[str, EntityOutline],
    *,
    session: QuerySession = UTC,
    views: Mapping[str, Query] | None = None,
    written: Query | None = None,
) -> dict[str, Read]:
    """The reads of queries, by table; `written` is the query whose rows the entity gets. Raises QueryError."""
    return Inference(downstream, upstreams, session, views or {}, written).of(queries)


class Inference:
    """Infers the reads of one downstream entity's queries."""

    def __init__(
        self,
        downstream: EntityOutline,
        upstreams: Mapping[str, EntityOutline],
        session: QuerySession,
        views: Mapping[str, Query],
        written: Query | None = None,
    ) -> None:
        self._down = downstream
        self._subjects = upstreams
        self._session = session
        self._tables = Tables(OutlinedTables(upstreams), views)
        self._written = written

    def of(self, queries: Sequence[Query]) -> dict[str, Read]:
        """The reads by table, in the order of their first mention."""
        return with_deep_stack(lambda: self._of(queries), queries[0].where(Place())) if queries else {}

    def _of(self, queries: Sequence[Query]) -> dict[str, Read]:
        relations = [(query, relation) for query in queries for relation in bind(query, self._tables)]
        mentions: dict[str, str] = {}
        for query, relation in relations:
            for occurrence in relation.occurrences:
                if occurrence.table in self._subjects:
                    mentions.setdefault(occurrence.table, query.where(occurrence.place))
        for query, relation in relations:
            refuse_failing_casts(query, relation, self._subjects)
        self._refuse_unwritable([relation for query, relation in relations if query is self._written])
        if unknown := self._unknown_parameter(queries):
            return {name: Read(name, where, undecidable=unknown) for name, where in mentions.items()}
        sliced = {name: where for name, where in mentions.items() if self._subjects[name].period is not None}
        fitted = self._of_slices(sliced, relations)
        return {name: fitted.get(name, Read(name, where, (STATIC,))) for name, where in mentions.items()}

    def _refuse_unwritable(self, relations: Sequence[Relation]) -> None:
        if self._written is not None and relations:
            refuse_unwritable(self._written, relations, self._down, self._subjects, self._session)

    def _unknown_parameter(self, queries: Sequence[Query]) -> str:
        """The reason if a parameter has no value on any slice: the query cannot run."""
        known = parameter_names(self._down.period)
        for query in queries:
            for name, place in query.parameters().items():
                if name not in known:
                    hint = did_you_mean(name, known)
                    return f"unknown parameter :{name} ({query.where(place)})" + (f", {hint}" if hint else "")
        return ""

    def _of_slices(self, mentions: Mapping[str, str], relations: Sequence[tuple[Query, Relation]]) -> dict[str, Read]:
        """The reads of tables that have slices."""
        if self._down.period is None:
            why = "a Static entity has no business time to read slices by"
            return {name: Read(name, where, undecidable=why) for name, where in mentions.items()}
        if not mentions:
            return {}
        evaluation = Evaluation(self._down.calendar, self._down.period, self._down.start, self._subjects)
        needed = evaluation.slices_by_table([relation for _, relation in relations], self._session)
        return {name: self._fit(name, where, needed[name], evaluation, relations) for name, where in mentions.items()}

    @staticmethod
    def _fit(
        name: str, where: str, needed: Needed, evaluation: Evaluation, relations: Sequence[tuple[Query, Relation]]
    ) -> Read:
        unknown = (
            f"{opaque.why or 'an expression that is not known'} ({query.where(opaque.place)})"
            for query, relation in relations
            if (opaque := unknown_function(name, [relation], evaluation.times))
        )
        read, why = Read(name, where), _reason(name, relations, evaluation.times)
        read = fit_offsets(read, needed, evaluation, why)
        if read.undecidable.startswith(NO_CONDITION):
            read = replace(read, undecidable=read.undecidable + _hiding(name, relations, evaluation.times))
        return undecidable_if_chosen(read, needed, next(unknown, ""))


def fit_offsets(read: Read, needed: Needed, evaluation: Evaluation, why: str) -> Read:
    """The read with its offsets, or with the reason why it has none; `why` names an unknown part of its conditions."""
    if isinstance(needed, str):
        return replace(read, undecidable=why or needed)
    if isinstance(needed, NeededUnbounded):
        return _unbounded(read, needed, evaluation, why)
    if not any(needed.values()):
        return replace(read, undecidable=why or "its conditions are never true: no slice of it is read")
    fit = evaluation.fit(read.table)
    offsets = fit.offsets(needed)
    if offsets is None and why:
        return replace(read, undecidable=why)
    if offsets is None:
        return replace(read, undecidable=f"{_NO_OFFSET}{fit.nearest(needed)}", evaluated=runs_by_time(needed))
    return replace(read, offsets=offsets)


def _unbounded(read: Read, needed: NeededUnbounded, evaluation: Evaluation, why: str) -> Read:
    if why:
        return replace(read, undecidable=why)
    open_at = evaluation.missing_bound(read.table, needed)
    if not open_at and evaluation.fit(read.table).has_start:
        return replace(read, offsets=(SINCE_START,))
    no_start = f"it reads everything since the start, and {read.table} has none: declare its start: YYYY-MM-DD"
    return replace(read, undecidable=open_at or no_start, at_least=evaluation.at_least(read.table, needed))


def undecidable_if_chosen(read: Read, needed: Needed, unknown: str) -> Read:
    """The read; undecidable if an unknown function of time may leave out some of several slices."""
    if not unknown or isinstance(needed, str):
        return read
    if isinstance(needed, dict) and all(len(slices) <= 1 for slices in needed.values()):
        return read
    return replace(read, offsets=(), undecidable=unknown, evaluated=(), at_least=())


def _reason(name: str, relations: Sequence[tuple[Query, Relation]], times: TimeColumns) -> str:
    """The unknown part of the conditions on a table's partition columns, with its place; else empty."""
    for query, relation in relations:
        for constraint in relation.constraints:
            if not any(times.tells(part, name) for part in _row_by_row(constraint.condition)):
                continue  # an aggregate and a window need all rows, whatever a condition on them says
            for part in walk(constraint.condition):
                if isinstance(part, Opaque) and part.why:
                    return f"{part.why} ({query.where(part.place)})"
    return ""


def _hiding(name: str, relations: Sequence[tuple[Query, Relation]], times: TimeColumns) -> str:
    """The operation that stops a condition on a table's partition columns from leaving out slices, with its place."""
    hiding = [
        (not part.hidden_by, part.hidden_by or part.why, query.where(part.place))
        for query, relation in relations
        for constraint in relation.constraints
        for part in walk(constraint.condition)
        if isinstance(part, Opaque) and (part.hidden_by or part.why) and any(times.tells(at, name) for at in walk(part))
    ]
    if not hiding:
        return ""
    _, by, place = min(hiding, key=lambda hidden: hidden[0])
    return f": the one that speaks of them stands above {by} ({place})"


def _row_by_row(condition: Bound) -> Iterator[Bound]:
    """The parts of a condition that are evaluated row by row: outside aggregates and windows."""
    stack, seen = [condition], set[int]()
    while stack:
        part = stack.pop()
        if id(part) not in seen and not (isinstance(part, Opaque) and part.why in (AGGREGATE, WINDOW)):
            yield part
            stack += children(part)
        seen.add(id(part))
