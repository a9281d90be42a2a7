"""The slices of each table that queries read, by business time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, Self

from tidemark.dependency_model.lineage.bound_expression import Column
from tidemark.dependency_model.lineage.business_time_parameters import parameters
from tidemark.dependency_model.lineage.entity_outline import TimeColumns
from tidemark.dependency_model.lineage.evaluation_times import query_times
from tidemark.dependency_model.lineage.expression_evaluation import STEPS_LIMIT, Evaluator, StepsSpentError
from tidemark.dependency_model.lineage.inferred_read import runs_of
from tidemark.dependency_model.lineage.offset_fitting import Fit
from tidemark.dependency_model.lineage.slice_narrowing import Domain, SliceNarrowing, Unbounded
from tidemark.dependency_model.lineage.slice_question import Variable
from tidemark.dependency_model.lineage.slice_space import beginning_of, end_of, slice_space
from tidemark.dependency_model.lineage.stretches import stretches_of, union_of
from tidemark.dependency_model.lineage.three_valued_logic import can_be_true
from tidemark.dependency_model.lineage.type_conversion import Conversion
from tidemark.dependency_model.time.partition_columns import are_as_by_default
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Occurrence
    from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
    from tidemark.dependency_model.lineage.inferred_read import Runs
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period


@dataclass(slots=True)
class NeededUnbounded:
    """The ranges read by each downstream slice; some reach the beginning or the end of time."""

    stretches: dict[int, list[range]]

    @classmethod
    def of(cls, sets: Mapping[int, Iterable[int]]) -> Self:
        """The slices already known for other business times, or of other mentions."""
        return cls({down: stretches_of(sorted(slices)) for down, slices in sets.items()})

    def add(self, down: int, stretches: Iterable[range]) -> None:
        """Adds the ranges of another mention."""
        self.stretches[down] = union_of([*self.stretches.get(down, ()), *stretches])


NO_CONDITION: Final = "no condition bounds its partition columns"
_AT_END: Final = f"{NO_CONDITION} at their end"
_AT_BEGINNING: Final = f"{NO_CONDITION} at their beginning"
_AT_BOTH: Final = f"{NO_CONDITION} at both ends"
_TOO_INVOLVED: Final = (
    "its conditions are too involved to tell which slices they let in: compare the partition columns themselves"
)
_STEPS_UNTIL_FIT: Final = 250_000
"""Steps of an analysis before it looks for offsets with the business times that it has."""
_TIMES_WITHOUT_FIT: Final = 60
"""The most business times, spread evenly, that are still evaluated if there is no offset."""

Needed = dict[int, frozenset[int]] | NeededUnbounded | str
"""By downstream slice: the slices of one table that it reads; or the reason why they are unknown."""


@dataclass(frozen=True)
class Evaluation:
    """Evaluates what a downstream entity reads at its business times."""

    calendar: Calendar
    period: Period
    start: str | None
    subjects: Mapping[str, EntityOutline]

    def slices_by_table(self, relations: Sequence[Relation], session: QuerySession) -> dict[str, Needed]:
        """The slices read of each table, at the business times that matter."""
        conditions = [constraint.condition for relation in relations for constraint in relation.constraints]
        times = query_times(self.calendar, self.period, self.start, conditions, self.times)
        return self.slices_by_table_at(times, relations, session)

    def slices_by_table_at(
        self, business_times: Iterable[int], relations: Sequence[Relation], session: QuerySession
    ) -> dict[str, Needed]:
        """The slices read of each table, at chosen business times (slices of the downstream)."""
        evaluator, narrowings = self._narrowings(relations, session)
        needed: dict[str, Needed] = {}
        times, is_thinned, checked_at = deque(business_times), False, _STEPS_UNTIL_FIT
        while times:
            ordinal = times.popleft()
            try:
                evaluator.begin(parameters(self.grid, ordinal))
                self._add_narrowed(needed, ordinal, narrowings)
            except StepsSpentError:
                ended = f"{_TOO_INVOLVED} (ended at {self.grid.key(ordinal)}, after {STEPS_LIMIT:,} steps)"
                tables = dict.fromkeys(mention.table for narrowing in narrowings for mention in narrowing.occurrences)
                return {table: known if isinstance(known := needed.get(table), str) else ended for table in tables}
            if all(isinstance(reason, str) for reason in needed.values()):
                break
            if evaluator.steps > checked_at and not is_thinned:
                checked_at *= 2
                is_thinned = self._fits_none(needed)
                times = deque(islice(times, 0, None, len(times) // _TIMES_WITHOUT_FIT + 1)) if is_thinned else times
        return needed

    def _fits_none(self, needed: Mapping[str, Needed]) -> bool:
        """Whether no table has an offset for the business times so far: more of them cannot give it one."""
        return all(
            isinstance(known, str) or (isinstance(known, dict) and self.fit(table).offsets(known) is None)
            for table, known in needed.items()
        )

    def is_empty(self, relation: Relation, mentions: Iterable[Occurrence], session: QuerySession) -> bool:
        """Whether one of the mentions has no slice to read at any business time: the relation then has no row."""
        conditions = [constraint.condition for constraint in relation.constraints]
        evaluator, (narrowing,) = self._narrowings([relation], session)
        asked = [mention for mention in mentions if mention in narrowing.occurrences]
        try:
            for ordinal in query_times(self.calendar, self.period, self.start, conditions, self.times):
                evaluator.begin(parameters(self.grid, ordinal))
                near = {mention: self.fit(mention.table).anchor(ordinal) for mention in narrowing.occurrences}
                read = narrowing.read(near, {})
                if all(read[mention] is None or read[mention] for mention in asked):
                    return False
        except StepsSpentError:
            return False
        return bool(asked)

    def is_never_true(self, condition: Bound, session: QuerySession) -> bool:
        """Whether a condition without a table is true at no business time."""
        evaluator = Evaluator(Conversion(Zone.load(session.time_zone)), {})
        holds = evaluator.condition(condition)
        for ordinal in query_times(self.calendar, self.period, self.start, [condition], self.times):
            evaluator.begin(parameters(self.grid, ordinal))
            if can_be_true(holds({})):
                return False
        return True

    def _add_narrowed(self, needed: dict[str, Needed], ordinal: int, narrowings: Iterable[SliceNarrowing]) -> None:
        known: dict[object, Sequence[range] | None] = {}
        for narrowing in narrowings:
            near = {occurrence: self.fit(occurrence.table).anchor(ordinal) for occurrence in narrowing.occurrences}
            for occurrence, domain in narrowing.read(near, known).items():
                why = _TOO_INVOLVED if occurrence in narrowing.exhausted else _AT_BOTH
                _add(needed, occurrence.table, ordinal, domain, narrowing.unevaluated.get(occurrence), why)

    @cached_property
    def times(self) -> TimeColumns:
        """The columns of the tables that identify slices."""
        return TimeColumns(self.subjects)

    def missing_bound(self, name: str, needed: NeededUnbounded) -> str:
        """The end where its conditions leave ranges without a bound; "" if it reads everything since the start."""
        space, fit = slice_space(self.subjects[name].grid), self.fit(name)
        first, end = beginning_of(space), end_of(space)
        read = [stretches for stretches in needed.stretches.values() if stretches]
        if any(stretches[-1].stop >= end for stretches in read):
            return _AT_BOTH if any(stretches[0].start <= first for stretches in read) else _AT_END
        return "" if fit.since_start(needed.stretches) else _AT_BEGINNING

    def at_least(self, name: str, needed: NeededUnbounded) -> tuple[tuple[int, Runs], ...]:
        """The slices to wait for: from the table's first slice to the ones that begin in the downstream's window.

        If the conditions only allow later slices, this is the first of them. Slices before the table's first one do not
        count.
        """
        grid, end, first = self.subjects[name].grid, end_of(slice_space(self.subjects[name].grid)), self.fit(name).first
        told: list[tuple[int, Runs]] = []
        for ordinal, stretches in sorted(needed.stretches.items()):
            after = grid.at(seconds_of(self.grid.window(ordinal).end) - 1) + 1
            over = union_of(read if read.stop < end else range(read.start, after) for read in stretches)
            waited = over or [range(read.start, read.start + 1) for read in stretches[:1]]
            told.append((ordinal, runs_of(union_of(range(max(read.start, first), read.stop) for read in waited))))
        return tuple(told)

    @cached_property
    def grid(self) -> Grid:
        """The downstream's slices."""
        return self.calendar.grid(self.period)

    def fit(self, name: str) -> Fit:
        """Finds offsets to a table."""
        return _fit(self.calendar, self.period, self.subjects[name])

    def _narrowings(
        self, relations: Sequence[Relation], session: QuerySession
    ) -> tuple[Evaluator, list[SliceNarrowing]]:
        variables = {
            occurrence: Variable(
                occurrence,
                slice_space(self.subjects[occurrence.table].grid),
                tuple(Column(occurrence, column.name) for column in self.subjects[occurrence.table].times),
                self.subjects[occurrence.table].times,
                are_as_by_default(self.subjects[occurrence.table].times),
            )
            for relation in relations
            for occurrence in relation.occurrences
            if occurrence.table in self.subjects and self.subjects[occurrence.table].period is not None
        }
        names = {
            occurrence: tuple(column.name for column in variable.columns) for occurrence, variable in variables.items()
        }
        evaluator = Evaluator(Conversion(Zone.load(session.time_zone)), names)
        return evaluator, [SliceNarrowing(relation, variables, evaluator) for relation in relations]


def _add(
    needed: dict[str, Needed],
    table: str,
    ordinal: int,
    domain: Domain | Unbounded,
    unevaluated: Call | None,
    why_not_told: str,
) -> None:
    """Adds one mention's slices. They are unknown if a call that cannot be computed let several in."""
    known = needed.setdefault(table, {})
    if isinstance(known, str):
        return
    if unevaluated is not None and (not isinstance(domain, Sequence) or len(domain) > 1):
        needed[table] = _says_nothing(unevaluated)
        return
    if domain is None:
        needed[table] = why_not_told
    elif isinstance(domain, Unbounded) or isinstance(known, NeededUnbounded):
        if not isinstance(known, NeededUnbounded):
            needed[table] = known = NeededUnbounded.of(known)
        known.add(ordinal, domain.stretches if isinstance(domain, Unbounded) else stretches_of(domain))
    else:
        known[ordinal] = known.get(ordinal, frozenset()) | frozenset(domain)


def _says_nothing(call: Call) -> str:
    if call.origin is None:
        return f"{call.name} is not understood for these values"
    return f"{call.origin.text} is not understood ({call.origin.where})"


@lru_cache(maxsize=4096)
def _fit(calendar: Calendar, period: Period, subject: EntityOutline) -> Fit:
    return Fit(calendar, period, subject.grid, _first(subject, subject.grid), subject.start is not None)


def _first(subject: EntityOutline, grid: Grid) -> int:
    """The upstream's first slice."""
    if subject.start is None:
        return grid.first
    return grid.at(seconds_of(subject.calendar.start_of(subject.start)))
