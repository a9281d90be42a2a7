"""Which slices of each table a query reads at one business time.

Each mention of a table has a set of slices, at first all of time. A condition leaves out the slices for which it
cannot be true, whatever values the other columns have and whichever of their remaining slices the other tables
contribute; what that leaves of one table restricts the tables joined to it, and so on until nothing changes. Nothing
that is read is left out:

* a row that an outer join may replace by NULLs counts as well where the condition holds with NULLs in its place,
  since without it the NULLs would appear;
* a condition of an outer join restricts only the side whose rows it can drop;
* what only the data knows is true as well as false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import Call, Column, Exists, Occurrence, Opaque, value_parts
from tidemark.dependency_model.lineage.slice_space import SliceSpace, TooManyBoxesError, needed_slices
from tidemark.dependency_model.lineage.value_range import Range, Special

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.lineage.expression_evaluation import Environment, Evaluator
    from tidemark.dependency_model.lineage.relation import Constraint, Relation, Side
    from tidemark.dependency_model.lineage.slice_space import Box

ASSIGNMENTS_LIMIT: Final = 600
"""So many combinations of other tables' slices are looked at; of more, the condition restricts nothing."""
SLICES_LIMIT: Final = 12_000
ROUNDS: Final = 8

Domain = Sequence[int] | None
"""Slices in order; None where they go on to an end of time."""
Setting = tuple[tuple[object, Special | tuple[tuple[Column, object], ...]], ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A mention of a table with slices."""

    occurrence: Occurrence
    space: SliceSpace
    columns: tuple[Column, ...]

    def put(self, environment: Environment, box: Box) -> None:
        """Let the mention be in a box."""
        for column, value in zip(self.columns, box, strict=True):
            environment[column] = value


@dataclass(frozen=True, slots=True)
class Condition:
    """A constraint as it restricts one variable: with the variables that it speaks of besides."""

    holds: Callable[[Environment], int]
    constraint: Constraint
    others: frozenset[Occurrence]
    sides: tuple[Side, ...]
    optional: frozenset[Occurrence]
    """Variables of sub-queries that may have no row at all."""

    def truth(self, environment: Environment) -> int:
        """Whether a row may count: with itself, or with the NULLs that stand for it."""
        outcome = self.holds(environment)
        for side in self.sides:
            if logic.must_be_read(outcome):
                break
            made_up = environment.copy()
            made_up.update((source, Special.NULL) for source in side)
            outcome = logic.either(outcome, self.holds(made_up))
        return outcome


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
        self._unevaluated = evaluator.unevaluated
        self.unevaluated: dict[Occurrence, Call] = {}
        """By mention: a call over dates alone that could not be evaluated, where that let slices in."""

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        """The mentions of tables with slices."""
        return tuple(self._variables)

    def read(self, near: Mapping[Occurrence, int], known: dict[object, Domain]) -> dict[Occurrence, Domain]:
        """The slices of each variable, at the business time that the evaluator was told last.

        `known` keeps what the same mentions were found to read in other ways to the same rows, at that business time.
        """
        domains: dict[Occurrence, Domain] = {}
        for variable, alone in self._alone.items():
            key = (variable, *(condition.constraint for condition in alone))
            if key not in known:
                known[key] = self._search(variable, alone, [()], near[variable])
            domains[variable] = known[key]
        for _ in range(ROUNDS):
            if not any(self._narrow(variable, domains, near[variable]) for variable in self._variables):
                break
        return domains

    def _conditions_of(self, target: Occurrence, relation: Relation, evaluator: Evaluator) -> list[Condition]:
        conditions_of_variable = []
        for constraint in relation.constraints:
            if target not in constraint.targets or not self._tells(constraint):
                continue
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
            conditions_of_variable.append(Condition(holds, constraint, others, sides, frozenset(optional)))
        return conditions_of_variable

    def _tells(self, constraint: Constraint) -> bool:
        """Whether the condition can be false: it speaks of partition columns, or of nothing that the data knows."""
        parts = list(value_parts(constraint.condition))
        columns = [part for part in parts if isinstance(part, Column)]
        if any(self._is_partition(column) for column in columns):
            return True
        return not columns and not any(isinstance(part, Opaque) for part in parts)

    def _is_partition(self, column: Column) -> bool:
        variable = self._variables.get(column.occurrence)
        return variable is not None and column in variable.columns

    def _narrow(self, target: Occurrence, domains: dict[Occurrence, Domain], near: int) -> bool:
        """Restrict one variable by what the others can be; whether that changed anything."""
        changed = False
        for others in dict.fromkeys(condition.others for condition in self._conditions[target] if condition.others):
            settings = self._settings(target, others, domains)
            if settings is None:
                continue
            conditions = [condition for condition in self._conditions[target] if condition.others <= others]
            before = domains[target]
            after = (
                self._search(target, conditions, settings, near)
                if before is None
                else self._filter(target, conditions, settings, before)
            )
            if after is not None and (before is None or len(after) < len(before)):
                domains[target] = after
                changed = True
        return changed

    def _settings(
        self, target: Occurrence, others: frozenset[Occurrence], domains: Mapping[Occurrence, Domain]
    ) -> list[Setting] | None:
        """Every combination of the other variables' slices; None where there are too many."""
        options: list[list[Setting]] = []
        total = 1
        for other in others:
            domain = domains[other]
            if domain is not None and len(domain) * total > ASSIGNMENTS_LIMIT:
                return None
            options.append(list(self._options(target, other, domain)))
            total *= max(1, len(options[-1]))
        return [tuple(part for option in chosen for part in option) for chosen in product(*options)]

    def _options(self, target: Occurrence, other: Occurrence, domain: Domain) -> Iterator[Setting]:
        """The slices that another variable can be in, in one where they go on to an end of time; or no row of it."""
        variable = self._variables[other]
        if domain is None:
            yield ((other, tuple((column, Special.UNKNOWN) for column in variable.columns)),)
        for ordinal in domain or ():
            yield ((other, tuple(zip(variable.columns, variable.space.point(ordinal), strict=True))),)
        conditions = [condition for condition in self._conditions[target] if other in condition.others]
        if any(other in condition.optional for condition in conditions):
            yield ((other, Special.NULL),)
        for side in dict.fromkeys(
            side for condition in conditions for side in condition.constraint.sides.get(other, ())
        ):
            yield tuple((source, Special.NULL) for source in side)

    def _filter(
        self, target: Occurrence, conditions: list[Condition], settings: list[Setting], before: Sequence[int]
    ) -> Sequence[int]:
        variable = self._variables[target]
        ask = self._question(variable, conditions, settings)
        return [ordinal for ordinal in before if ask(variable.space.point(ordinal))[0]]

    def _search(self, target: Occurrence, conditions: list[Condition], settings: list[Setting], near: int) -> Domain:
        if not conditions:
            return None
        variable = self._variables[target]
        try:
            stretches = needed_slices(variable.space, self._question(variable, conditions, settings), near)
        except TooManyBoxesError:
            return None
        if stretches is None or sum(map(len, stretches)) > SLICES_LIMIT:
            return None
        return [ordinal for stretch in stretches for ordinal in stretch]

    def _question(
        self, variable: Variable, conditions: list[Condition], settings: list[Setting]
    ) -> Callable[[Box], tuple[bool, bool]]:
        """Of a box: whether some slice may be needed, and whether all are."""
        environments = [_environment(setting) for setting in settings]
        unevaluated = self._unevaluated
        latest = 0  # neighbouring slices go with neighbouring settings: begin where the last one was found

        def ask(box: Box) -> tuple[bool, bool]:
            nonlocal latest
            some = every = False
            for at in (*range(latest, len(environments)), *range(latest)):
                environment = environments[at]
                variable.put(environment, box)
                unevaluated.clear()
                outcome = logic.TRUE
                for condition in conditions:
                    outcome = logic.both(outcome, condition.truth(environment))
                    if not logic.can_be_true(outcome):
                        break
                some = some or logic.can_be_true(outcome)
                every = every or logic.must_be_read(outcome)
                if unevaluated and outcome != logic.TRUE and _is_taken(outcome, box):
                    self.unevaluated.setdefault(variable.occurrence, unevaluated[0])
                if every:
                    latest = at
                    break
            return some, every

        return ask


def _is_taken(outcome: int, box: Box) -> bool:
    """Whether the slices of a box are read by this outcome, and not looked at more closely."""
    if logic.must_be_read(outcome):
        return True
    return logic.can_be_true(outcome) and all(isinstance(value, Range) and value.is_point for value in box)


def _environment(setting: Setting) -> Environment:
    environment: Environment = {}
    for key, value in setting:
        if isinstance(value, Special):
            environment[key] = value
        else:
            environment.update(value)  # type: ignore[arg-type]
    return environment
