"""The reads of a Python function, from its plans at business times where calendars are irregular.

Each plan has the business time as constants, so it is evaluated only at its own business time. Then the offset is
sought that names the slices read at all of these times, as for a query. A special case of the function for a day
between these times stays undetected.

Source: seed capability A7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Opaque, walk
from tidemark.dependency_model.lineage.inference import fit_offsets, undecidable_if_chosen
from tidemark.dependency_model.lineage.inferred_read import Read
from tidemark.dependency_model.lineage.slices_read import Evaluation, NeededUnbounded
from tidemark.dependency_model.lineage.spark_plan.plan_relations import relations
from tidemark.dependency_model.lineage.spark_plan.plan_tree import read_plan, tables_named
from tidemark.dependency_model.lineage.unknown_function import unknown_function
from tidemark.dependency_model.offset.offset import STATIC
from tidemark.dependency_model.time.sample_slices import sparse_slices
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession, TimeColumns
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.dependency_model.lineage.slices_read import Needed


def business_times(downstream: EntityOutline) -> tuple[int, ...]:
    """The slices whose plans are needed: two weeks, turns of months and years, leap days, clock changes."""
    if downstream.period is None:
        return ()
    return sparse_slices(downstream.calendar, downstream.period, downstream.start, closely=False)


def infer_reads(
    plans: Mapping[int, str],
    where: str,
    downstream: EntityOutline,
    upstreams: Mapping[str, EntityOutline],
    session: QuerySession,
) -> dict[str, Read]:
    """The reads of each input that some plan reads; `plans` are Spark's JSON by slice. Raises ParseError."""
    if downstream.period is None:
        return {}
    evaluation = Evaluation(downstream.calendar, downstream.period, downstream.start, upstreams)
    needed_of_table: dict[str, Needed] = {}
    why: dict[str, str] = {}
    unknown: dict[str, str] = {}
    for ordinal, text in plans.items():
        ways = _relations(text)
        _add(needed_of_table, ordinal, _tables(ways), evaluation.slices_by_table_at([ordinal], ways, session))
        for name in _tables(ways):
            why[name] = why.get(name) or _opaque(name, ways)
            unknown[name] = unknown.get(name) or _unknown(name, ways, evaluation.times)
    reads = {
        name: _read(Read(name, where), needed, why[name], evaluation, plans) for name, needed in needed_of_table.items()
    }
    return {name: undecidable_if_chosen(read, needed_of_table[name], unknown[name]) for name, read in reads.items()}


def _relations(text: str) -> list[Relation]:
    """The ways to a plan's rows. Raises ParseError, also if the plan names an input that no way reads."""
    ways = relations(read_plan(text))
    lost = tables_named(text) - _tables(ways)
    if lost:
        raise ParseError("the plan names an input in a place that is not known", found=", ".join(sorted(lost)))
    return ways


def _tables(ways: Sequence[Relation]) -> frozenset[str]:
    return frozenset(occurrence.table for way in ways for occurrence in way.occurrences)


def _add(all_needed: dict[str, Needed], ordinal: int, tables: frozenset[str], needed: Mapping[str, Needed]) -> None:
    """Adds the slices of one business time. If they are unknown at one time, the whole read is unknown."""
    for name in sorted(tables):
        known, new = all_needed.setdefault(name, {}), needed.get(name, {})
        if isinstance(known, str) or isinstance(new, str):
            all_needed[name] = known if isinstance(known, str) else new
        elif isinstance(known, NeededUnbounded) or isinstance(new, NeededUnbounded):
            merged = known if isinstance(known, NeededUnbounded) else NeededUnbounded.of(known)
            at_once = new if isinstance(new, NeededUnbounded) else NeededUnbounded.of({ordinal: (), **new})
            merged.stretches.update(at_once.stretches)
            all_needed[name] = merged
        else:
            known[ordinal] = new.get(ordinal, frozenset())


def _read(read: Read, needed: Needed, why: str, evaluation: Evaluation, plans: Mapping[int, str]) -> Read:
    if evaluation.subjects[read.table].period is None:
        return Read(read.table, read.where, (STATIC,))
    every = {ordinal: needed.get(ordinal, frozenset()) for ordinal in plans} if isinstance(needed, dict) else needed
    return fit_offsets(read, every, evaluation, why)


def _opaque(name: str, ways: Sequence[Relation]) -> str:
    """The unknown part of the conditions on an input."""
    conditions = [
        constraint.condition
        for way in ways
        for constraint in way.constraints
        if any(target.table == name for target in constraint.targets)
    ]
    return next(
        (part.why for condition in conditions for part in walk(condition) if isinstance(part, Opaque) and part.why), ""
    )


def _unknown(name: str, ways: Sequence[Relation], times: TimeColumns) -> str:
    """The unknown function of time in the conditions on an input."""
    unknown = unknown_function(name, ways, times)
    return (unknown.why or "an expression that is not known") if unknown else ""
