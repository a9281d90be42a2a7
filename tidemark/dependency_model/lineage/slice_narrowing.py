"""The slices of each table that a query reads at one business time.

Each mention of a table has a set of slices, at first all of time. A condition leaves out the slices for which it is
never true, for any values of the other columns and any remaining slices of the other tables. The slices left of one
table then restrict the tables joined to it, until nothing changes. A slice that is read is never left out:

* an outer join may replace a row by NULLs; such a row also counts if the condition holds with NULLs in its place,
  because without the row the NULLs would appear.
* a condition of an outer join restricts only the side whose rows it can drop.
* a value that only the data knows makes a condition both true and false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Call, Column, Exists, Occurrence, Opaque, value_parts
from tidemark.dependency_model.lineage.equal_columns import (
    Equality,
    SideValues,
    bare,
    equalities,
    is_null_with_its_row,
    mention_of,
)
from tidemark.dependency_model.lineage.equal_columns import (
    is_timeless as are_timeless,
)
from tidemark.dependency_model.lineage.listed_rows import with_its_rows
from tidemark.dependency_model.lineage.setting_tree import SettingNode, setting_tree
from tidemark.dependency_model.lineage.shown_partition import day_shown
from tidemark.dependency_model.lineage.slice_question import Condition, Setting, SliceQuestion, Variable
from tidemark.dependency_model.lineage.slice_space import TooManyBoxesError, beginning_of, end_of, needed_stretches
from tidemark.dependency_model.lineage.stretches import common_slices, common_to, stretches_of, union_of, within
from tidemark.dependency_model.lineage.timeless_reach import TimelessReach, is_timeless
from tidemark.dependency_model.lineage.unknown_sides import is_unknown_of
from tidemark.dependency_model.lineage.value_range import Special

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.lineage.expression_evaluation import Environment, Evaluator
    from tidemark.dependency_model.lineage.relation import Constraint, Relation
    from tidemark.dependency_model.lineage.value_range import Type
    from tidemark.dependency_model.time.partition_columns import PartitionColumn

ASSIGNMENTS_LIMIT: Final = 600
"""The most combinations of other tables' slices that are tried; with more, the condition restricts nothing."""
SLICES_LIMIT: Final = 40_000
_FEW: Final = 16
"""More slices of another variable than this become a tree."""
ROUNDS: Final = 8

Domain = Sequence[int] | None
"""Slices in order; None if they go on to an end of time."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Ranges that reach the beginning or the end of time; some of their slices may be left out."""

    stretches: tuple[range, ...]


class SliceNarrowing:
    """The variables and conditions of one relation."""

    def __init__(self, relation: Relation, variables: Mapping[Occurrence, Variable], evaluator: Evaluator) -> None:
        self._variables = {
            occurrence: variables[occurrence] for occurrence in relation.occurrences if occurrence in variables
        }
        self._conditions = {
            variable: self._conditions_of(variable, relation, evaluator) for variable in self._variables
        }
        self._alone = {
            variable: [condition for condition in self._conditions[variable] if not condition.others]
            for variable in self._variables
        }
        self._compile = evaluator.compile
        self._unbounded: dict[Occurrence, Unbounded] = {}
        self._open: dict[Occurrence, Sequence[range]] = {}
        self._latest: dict[tuple[Occurrence, frozenset[Occurrence]], range] = {}  # relative to the slice nearby
        self._scattered: set[tuple[Occurrence, frozenset[Occurrence]]] = set()  # not searched at later business times
        self._side_values: dict[tuple[object, ...], SideValues] = {}
        self._reaches: dict[tuple[frozenset[Constraint], Occurrence, Occurrence], TimelessReach] = {}
        self._unevaluated = evaluator.unevaluated
        self.unevaluated: dict[Occurrence, Call] = {}
        """By mention: a call over dates alone that could not be evaluated, if it let slices in."""
        self.exhausted: set[Occurrence] = set()
        """Mentions whose conditions took too many steps to evaluate."""

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        """The mentions of tables with slices."""
        return tuple(self._variables)

    def read(
        self, near: Mapping[Occurrence, int], known: dict[object, Sequence[range] | None]
    ) -> dict[Occurrence, Domain | Unbounded]:
        """The slices of each variable at the evaluator's current business time.

        `known` keeps the slices of the same mentions in other ways to the same rows, at that business time.
        """
        domains: dict[Occurrence, Domain] = {}
        self._unbounded.clear()
        self._open.clear()
        for variable, alone in self._alone.items():
            key = (variable, *(condition.constraint for condition in alone))
            if key not in known:
                known[key] = self._alone_stretches(variable, near[variable])
            self._begin(variable, domains, known[key])
        for _ in range(ROUNDS):
            changed = [self._narrow(variable, domains, near[variable]) for variable in self._variables]
            if not any(changed):
                break
        return {
            variable: self._unbounded.get(variable) if domain is None else domain
            for variable, domain in domains.items()
        }

    def _begin(self, variable: Occurrence, domains: dict[Occurrence, Domain], alone: Sequence[range] | None) -> None:
        """Starts with the slices that the variable's own conditions allow."""
        read = None if alone is None else self._domain(variable, alone)
        if isinstance(read, Unbounded):
            self._unbounded[variable] = read
        if alone is not None and not isinstance(read, list):
            self._open[variable] = alone
        domains[variable] = read if isinstance(read, list) else None

    def _conditions_of(self, target: Occurrence, relation: Relation, evaluator: Evaluator) -> list[Condition]:
        conditions_of_variable = []
        for constraint in relation.constraints:
            if target not in constraint.targets or not self._tells(constraint):
                continue
            constraint = with_its_rows(constraint, target, relation.constraints)  # noqa: PLW2901 - the same, narrower
            spoken_of = {
                part.occurrence
                for part in value_parts(constraint.condition)
                if isinstance(part, Column) and part.occurrence in self._variables and self._is_partition(part)
            }
            optional = {
                inner
                for part in value_parts(constraint.condition)
                if isinstance(part, Exists)
                for inner in part.inner
                if inner in self._variables
            }
            holds = evaluator.condition(constraint.condition)
            sides = constraint.sides.get(target, ())
            others = frozenset(spoken_of | optional) - {target}
            equal = tuple(
                equality
                for equality in equalities(constraint.condition, target, self._is_partition)
                if all(is_null_with_its_row(side, evaluator.compile(side)) for side in (equality.own, equality.other))
            )
            is_open = is_unknown_of(constraint.condition, others)
            condition = Condition(holds, constraint, others, sides, frozenset(optional), equal, is_open)
            conditions_of_variable.append(condition)
        return conditions_of_variable

    def _tells(self, constraint: Constraint) -> bool:
        """Whether the condition can be false: it uses partition columns, or nothing that only the data knows."""
        parts = list(value_parts(constraint.condition))
        columns = [part for part in parts if isinstance(part, Column)]
        if any(self._is_partition(column) for column in columns):
            return True
        return not columns and not any(isinstance(part, Opaque) for part in parts)

    def _is_partition(self, column: Column) -> bool:
        variable = self._variables.get(column.occurrence)
        return variable is not None and column in variable.columns

    def _narrow(self, target: Occurrence, domains: dict[Occurrence, Domain], near: int) -> bool:
        """Restricts one variable by the slices of the others; whether that changed anything."""
        changed = False
        for others in dict.fromkeys(condition.others for condition in self._conditions[target] if condition.others):
            before = domains[target]
            after = self._narrow_by(target, others, domains, near)
            if isinstance(after, Unbounded) and target in self._unbounded:
                after = self._domain(target, common_to(self._unbounded[target].stretches, after.stretches))
            if isinstance(after, Unbounded):
                self._unbounded[target] = after
            elif after is not None and (before is None or len(after) < len(before)):
                domains[target] = after
                changed = True
        return changed

    def _narrow_by(
        self, target: Occurrence, others: frozenset[Occurrence], domains: Mapping[Occurrence, Domain], near: int
    ) -> Domain | Unbounded:
        """The variable's slices as some others restrict them; None if they do not."""
        conditions = [condition for condition in self._conditions[target] if condition.others <= others]
        if domains[target] is not None and _say_nothing(conditions, domains):
            return None
        if len(others) == 1:
            (other,) = others
            partners = self._partners(target, other, conditions, domains)
            if partners is not None:
                is_filtered = domains[target] is not None
                return self._with_partners(target, other, conditions, partners, is_filtered=is_filtered)
            reached = self._joined(target, other, conditions, domains)
            if reached is not None:
                return self._domain(target, reached)
        settings, tree = self._settings(target, others, domains)
        if settings is None:
            return None
        question = self._question(target, conditions, settings, tree)
        before = domains[target]
        if before is not None:
            return self._filter(target, question, before)
        stretches = self._search(target, others, question, near)
        return None if stretches is None else self._domain(target, stretches)

    def _partners(
        self,
        target: Occurrence,
        other: Occurrence,
        conditions: Sequence[Condition],
        domains: Mapping[Occurrence, Domain],
    ) -> dict[int, list[int]] | None:
        """The variable's slices, each with the other one's slices that are equal to it; None if unknown."""
        equal = [equality for condition in conditions for equality in condition.equalities]
        equal = [equality for equality in equal if mention_of(equality.other) is other]
        domain, before = domains[other], domains[target]
        if not equal or domain is None:
            return None
        if self._are_same_slices(target, other, equal):
            return {ordinal: [ordinal] for ordinal in (domain if before is None else common_slices(before, domain))}
        columns = [(at, self._variables[target].dating(equality.own)) for at, equality in enumerate(equal)]
        dated = next(((at, column) for at, column in columns if column is not None), None)
        if before is None and dated is None:
            return None
        try:
            their_sides = self._sides(other, [equality.other for equality in equal])
            theirs = their_sides.slices_by_key(domain)
            if before is None and dated is not None:
                at, column = dated
                before = self._dated(target, column, (key[at] for key in theirs))
            our_sides = self._sides(target, [equality.own for equality in equal])
            ours = our_sides.slices_by_key(before or ())
        except LookupError:
            return None
        if len(their_sides.types | our_sides.types) > 1:
            return None
        return {ordinal: theirs[key] for key, ordinals in ours.items() if key in theirs for ordinal in ordinals}

    def _are_same_slices(self, target: Occurrence, other: Occurrence, equal: Sequence[Equality]) -> bool:
        """Whether the equal sides are all columns that identify a slice, of two tables with the same grid."""
        ours, theirs = self._variables[target], self._variables[other]
        if ours.space is not theirs.space or ours.times != theirs.times:
            return False
        pairs = {(bare(equality.own), bare(equality.other)) for equality in equal}
        return pairs == set(zip(ours.columns, theirs.columns, strict=True))

    def _sides(self, occurrence: Occurrence, sides: Sequence[Bound]) -> SideValues:
        name = (occurrence, *map(id, sides))
        values = self._side_values.get(name)
        if values is None:
            variable = self._variables[occurrence]

            def environment(ordinal: int) -> Environment:
                return dict(variable.values(variable.space.point(ordinal)))

            values = SideValues([self._compile(side) for side in sides], environment)
            if are_timeless(sides):
                self._side_values[name] = values
        return values

    def _dated(self, target: Occurrence, column: PartitionColumn, values: Iterable[tuple[Type, object]]) -> list[int]:
        """The slices on which a column has one of the values. Raises LookupError if one is not a date."""
        days = {day_shown(column, type_, value) for type_, value in values}
        space = self._variables[target].space
        return sorted(ordinal for day in days for ordinal in space.on(day))

    def _with_partners(
        self,
        target: Occurrence,
        other: Occurrence,
        conditions: list[Condition],
        partners: Mapping[int, list[int]],
        *,
        is_filtered: bool,
    ) -> list[int]:
        """The slices that some partner allows; `is_filtered` if the variable's own conditions were already applied."""
        judged = [] if is_filtered else self._alone[target]
        if not judged and _are_equalities(conditions):
            return sorted(partners)
        absent = list(self._absent(target, other))
        kept: list[int] = []
        for ordinal in sorted(partners):
            settings = [*absent, *(self._setting(other, partner) for partner in partners[ordinal])]
            kept += self._filter(target, self._question(target, conditions, settings), [ordinal])
        return kept

    def _joined(
        self,
        target: Occurrence,
        other: Occurrence,
        conditions: Sequence[Condition],
        domains: Mapping[Occurrence, Domain],
    ) -> Sequence[range] | None:
        """The slices that timeless conditions join to the other one's many slices; None if unknown."""
        joining = [condition for condition in conditions if condition.others]
        domain, before = domains[other], domains[target]
        if domain is None or len(domain) <= _FEW or any(self._absent(target, other)):
            return None
        if not all(map(is_timeless, joining)):
            return None
        said = frozenset(condition.constraint for condition in joining)
        is_known = (said, other, target) in self._reaches
        try:
            if before is not None and not is_known:
                return stretches_of(self._reach(said, target, other, joining).reaching(before, domain))
            reached = self._reach(said, other, target, joining).reached(domain)
        except LookupError:
            return None
        if before is not None:
            return stretches_of(within(before, reached))
        return self._common_to_alone(target, reached)

    def _common_to_alone(self, target: Occurrence, reached: Sequence[range]) -> Sequence[range] | None:
        """The slices that the variable's own conditions allow as well."""
        if not self._alone[target]:
            return reached
        return common_to(reached, self._open[target]) if target in self._open else None

    def _reach(
        self, said: frozenset[Constraint], given: Occurrence, sought: Occurrence, joining: Sequence[Condition]
    ) -> TimelessReach:
        key = (said, given, sought)
        if key not in self._reaches:
            variables = self._variables
            self._reaches[key] = TimelessReach(variables[given], variables[sought], joining, self._unevaluated)
        return self._reaches[key]

    def _settings(
        self, target: Occurrence, others: frozenset[Occurrence], domains: Mapping[Occurrence, Domain]
    ) -> tuple[list[Setting] | None, tuple[Variable, SettingNode] | None]:
        """Every combination of the other variables' slices, None if there are too many;

        a tree for a single variable.
        """
        if len(others) == 1:
            (other,) = others
            domain = domains[other]
            if domain is not None and len(domain) > _FEW:
                variable = self._variables[other]
                tree = setting_tree([variable.space.point(ordinal) for ordinal in domain])
                return list(self._absent(target, other)), (variable, tree)
        options: list[list[Setting]] = []
        total = 1
        for other in others:
            domain = domains[other]
            if domain is not None and len(domain) * total > ASSIGNMENTS_LIMIT:
                return None, None
            options.append(list(self._options(target, other, domain)))
            total *= max(1, len(options[-1]))
        return [tuple(part for option in chosen for part in option) for chosen in product(*options)], None

    def _options(self, target: Occurrence, other: Occurrence, domain: Domain) -> Iterator[Setting]:
        """The slices of another variable, one unknown slice if they reach an end of time, or a missing row."""
        variable = self._variables[other]
        if domain is None:
            yield ((other, tuple((column, Special.UNKNOWN) for column in variable.columns)),)
        for ordinal in domain or ():
            yield self._setting(other, ordinal)
        yield from self._absent(target, other)

    def _setting(self, other: Occurrence, ordinal: int) -> Setting:
        variable = self._variables[other]
        return ((other, variable.values(variable.space.point(ordinal))),)

    def _absent(self, target: Occurrence, other: Occurrence) -> Iterator[Setting]:
        """The setting without a row of another variable, if a row may be missing."""
        conditions = [condition for condition in self._conditions[target] if other in condition.others]
        if any(other in condition.optional for condition in conditions):
            yield ((other, Special.NULL),)
        for side in dict.fromkeys(
            side for condition in conditions for side in condition.constraint.sides.get(other, ())
        ):
            yield tuple((source, Special.NULL) for source in side)

    def _alone_stretches(self, target: Occurrence, near: int) -> Sequence[range] | None:
        """The slices that the variable's own conditions allow; None if it has none, or if they are unknown."""
        conditions = self._alone[target]
        question = self._question(target, conditions, [()])
        return self._search(target, frozenset(), question, near) if conditions else None

    def _question(
        self,
        target: Occurrence,
        conditions: Sequence[Condition],
        settings: Sequence[Setting],
        tree: tuple[Variable, SettingNode] | None = None,
    ) -> SliceQuestion:
        return SliceQuestion(self._variables[target], conditions, settings, self._unevaluated, tree)

    def _filter(self, target: Occurrence, question: SliceQuestion, slices: Sequence[int]) -> list[int]:
        space = self._variables[target].space
        kept = [ordinal for ordinal in slices if question(space.point(ordinal))[0]]
        self._note_unevaluated(target, question)
        return kept

    def _search(
        self, target: Occurrence, others: frozenset[Occurrence], question: SliceQuestion, near: int
    ) -> Sequence[range] | None:
        """The slices that a question allows. The search starts where the last result was, relative to `near`."""
        if (target, others) in self._scattered:
            return None
        latest = self._latest.get((target, others))
        expected = None if latest is None else range(latest.start + near, latest.stop + near)
        try:
            space = self._variables[target].space
            stretches = needed_stretches(space, question, range(near, near + 1), expected=expected)
        except TooManyBoxesError:
            stretches = None
            self.exhausted.add(target)
            self._scattered.add((target, others))
        self._note_unevaluated(target, question)
        if stretches is None:
            return None
        union = union_of(stretches)
        if len(union) == 1:
            self._latest[target, others] = range(union[0].start - near, union[0].stop - near)
        return union

    def _domain(self, target: Occurrence, stretches: Sequence[range]) -> Domain | Unbounded:
        """Ranges as slices, or as they are if unbounded; None if there are too many."""
        space = self._variables[target].space
        if stretches and (stretches[0].start <= beginning_of(space) or stretches[-1].stop >= end_of(space)):
            return Unbounded(tuple(stretches))
        if sum(map(len, stretches)) > SLICES_LIMIT:
            return None
        return [ordinal for stretch in stretches for ordinal in stretch]

    def _note_unevaluated(self, target: Occurrence, question: SliceQuestion) -> None:
        if question.letting_in is not None:
            self.unevaluated.setdefault(target, question.letting_in)


def _are_equalities(conditions: Iterable[Condition]) -> bool:
    """Whether the conditions on other mentions only say that sides are equal."""
    return all(condition.is_equality for condition in conditions if condition.others)


def _say_nothing(conditions: Iterable[Condition], domains: Mapping[Occurrence, Domain]) -> bool:
    """Whether the conditions on other mentions are open, and these mentions may be in any slice."""
    joining = [condition for condition in conditions if condition.others]
    return all(condition.is_open and all(domains[other] is None for other in condition.others) for condition in joining)
