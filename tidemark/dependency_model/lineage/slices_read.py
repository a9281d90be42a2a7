"""Which slices of each table queries read, business time by business time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Column
from tidemark.dependency_model.lineage.business_time_parameters import parameters
from tidemark.dependency_model.lineage.entity_outline import TimeColumns
from tidemark.dependency_model.lineage.evaluation_times import query_times
from tidemark.dependency_model.lineage.expression_evaluation import Evaluator
from tidemark.dependency_model.lineage.offset_fitting import Fit
from tidemark.dependency_model.lineage.slice_narrowing import Domain, FromBeginning, SliceNarrowing, ToEnd
from tidemark.dependency_model.lineage.slice_question import Variable
from tidemark.dependency_model.lineage.slice_space import slice_space
from tidemark.dependency_model.lineage.type_conversion import Conversion
from tidemark.dependency_model.time.partition_columns import are_as_by_default
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.lineage.bound_expression import Call
    from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
    from tidemark.dependency_model.lineage.inferred_read import Runs
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period


@dataclass(slots=True)
class NeededFromBeginning:
    """`stops` say, by downstream slice, up to which slice all are read, `sets` what else is."""

    stops: dict[int, int] = field(default_factory=dict)
    sets: dict[int, frozenset[int]] = field(default_factory=dict)

    def add(self, other: NeededFromBeginning) -> None:
        """Put other business times to these."""
        self.stops.update(other.stops)
        self.sets.update(other.sets)


@dataclass(slots=True)
class NeededToEnd:
    """`starts` say, by downstream slice, from which slice on slices are read, `sets` what else is."""

    starts: dict[int, int] = field(default_factory=dict)
    sets: dict[int, frozenset[int]] = field(default_factory=dict)


OPEN_END: Final = "no condition bounds its partition columns at their end"
_OPEN: Final = "no condition bounds its partition columns at both ends"

Bounded = dict[int, frozenset[int]] | NeededFromBeginning | str
"""By downstream slice: the slices of one table that it reads; or why there is no telling."""
Needed = Bounded | NeededToEnd
"""The same where slices may go on to the end of time."""


@dataclass(frozen=True)
class Evaluation:
    """Evaluates what a downstream entity reads at its business times."""

    calendar: Calendar
    period: Period
    start: str | None
    subjects: Mapping[str, EntityOutline]

    def slices_by_table(self, relations: Sequence[Relation], session: QuerySession) -> dict[str, Needed]:
        """By table with slices, at the business times that matter."""
        conditions = [constraint.condition for relation in relations for constraint in relation.constraints]
        times = query_times(self.calendar, self.period, self.start, conditions, self.times)
        return self.slices_by_table_at(times, relations, session)

    def slices_by_table_at(
        self, business_times: Iterable[int], relations: Sequence[Relation], session: QuerySession
    ) -> dict[str, Needed]:
        """By table with slices, at chosen business times (slices of the downstream)."""
        evaluator, narrowings = self._narrowings(relations, session)
        needed: dict[str, Needed] = {}
        for ordinal in business_times:
            evaluator.begin(parameters(self.grid, ordinal))
            known: dict[object, Sequence[range] | None] = {}
            for narrowing in narrowings:
                near = {occurrence: self.fit(occurrence.table).anchor(ordinal) for occurrence in narrowing.occurrences}
                for occurrence, domain in narrowing.read(near, known).items():
                    _add(needed, occurrence.table, ordinal, domain, narrowing.unevaluated.get(occurrence))
            if all(isinstance(reason, str) for reason in needed.values()):
                break
        return needed

    @cached_property
    def times(self) -> TimeColumns:
        """Which columns of the tables tell slices."""
        return TimeColumns.of(self.subjects)

    def at_least(self, name: str, needed: NeededToEnd) -> tuple[tuple[int, Runs], ...]:
        """Of what goes on to the end of time the slices that begin in the downstream's windows or before."""
        grid = self.subjects[name].grid
        told: list[tuple[int, Runs]] = []
        for ordinal, start in sorted(needed.starts.items()):
            last = grid.at(seconds_of(self.grid.window(ordinal).end) - 1)
            told.append((ordinal, ((start, max(start, last)),)))
        return tuple(told)

    @cached_property
    def grid(self) -> Grid:
        """The downstream's slices."""
        return self.calendar.grid(self.period)

    def fit(self, name: str) -> Fit:
        """What finds offsets to a table."""
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
    domain: Domain | FromBeginning | ToEnd,
    unevaluated: Call | None,
) -> None:
    """Add one mention's slices; where a call that says nothing let several in, nobody can tell which of them count."""
    known = needed.setdefault(table, {})
    if isinstance(known, str):
        return
    if unevaluated is not None and (not isinstance(domain, Sequence) or len(domain) > 1):
        needed[table] = _says_nothing(unevaluated)
        return
    if isinstance(domain, FromBeginning) and not isinstance(known, NeededToEnd):
        if not isinstance(known, NeededFromBeginning):
            needed[table] = known = NeededFromBeginning(sets=known)
        known.stops[ordinal] = max(domain.stop, known.stops.get(ordinal, domain.stop))
    elif isinstance(domain, ToEnd) and not isinstance(known, NeededFromBeginning):
        if not isinstance(known, NeededToEnd):
            needed[table] = known = NeededToEnd(sets=known)
        known.starts[ordinal] = min(domain.start, known.starts.get(ordinal, domain.start))
    elif domain is None or isinstance(domain, (FromBeginning, ToEnd)):
        needed[table] = _OPEN
    else:
        sets = known if isinstance(known, dict) else known.sets
        sets[ordinal] = sets.get(ordinal, frozenset()) | frozenset(domain)


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
