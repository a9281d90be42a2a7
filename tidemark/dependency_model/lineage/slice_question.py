"""The question for a box of slices: whether conditions may be true there, for any slices of other mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import Call, Column, Occurrence
from tidemark.dependency_model.lineage.equal_columns import Equality, bare, is_pure
from tidemark.dependency_model.lineage.shown_partition import shown_values
from tidemark.dependency_model.lineage.value_range import Range, Special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.dependency_model.lineage.bound_expression import Bound, Side
    from tidemark.dependency_model.lineage.expression_evaluation import Environment
    from tidemark.dependency_model.lineage.relation import Constraint
    from tidemark.dependency_model.lineage.setting_tree import SettingNode
    from tidemark.dependency_model.lineage.slice_space import Box, SliceSpace
    from tidemark.dependency_model.lineage.value_range import Value
    from tidemark.dependency_model.time.partition_columns import PartitionColumn

_LOOKS: Final = 64
"""The most steps through a tree for a box of several slices."""

Setting = tuple[tuple[object, Special | tuple[tuple[Column, object], ...]], ...]
"""Values of other mentions' columns, or the mentions without a row."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A mention of a table with slices."""

    occurrence: Occurrence
    space: SliceSpace
    columns: tuple[Column, ...]
    times: tuple[PartitionColumn, ...]
    is_shown_as_it_is: bool
    """Whether its columns are the date, the hour and the minute themselves."""

    def values(self, box: Box) -> tuple[tuple[Column, Value], ...]:
        """The values of its partition columns in a box."""
        shown = box if self.is_shown_as_it_is else shown_values(self.times, box)
        return tuple(zip(self.columns, shown, strict=True))

    def dating(self, side: Bound) -> PartitionColumn | None:
        """The column that a side is, if it identifies the date."""
        own = bare(side)
        column = self.times[self.columns.index(own)] if own in self.columns else None
        return column if column is not None and "dd" in column.units else None

    @property
    def days(self) -> tuple[Column, ...]:
        """The column with a slice's date, if each slice is one day and every day has a slice."""
        is_dated = self.is_shown_as_it_is and [column.type for column in self.times] == ["date"]
        return self.columns if is_dated and self.space.is_of_days else ()

    def put(self, environment: Environment, box: Box) -> None:
        """Puts the mention's values in a box into the environment."""
        for column, value in zip(
            self.columns, box if self.is_shown_as_it_is else shown_values(self.times, box), strict=True
        ):
            environment[column] = value


@dataclass(frozen=True, slots=True)
class Condition:
    """A constraint as it restricts one variable, with the other variables that it uses."""

    holds: Callable[[Environment], int]
    constraint: Constraint
    others: frozenset[Occurrence]
    sides: tuple[Side, ...]
    optional: frozenset[Occurrence]
    """Variables of sub-queries that may have no row at all."""
    equalities: tuple[Equality, ...] = ()
    """The sides that are equal if it is true; the variable's side comes first."""
    is_open: bool = False
    """Whether it restricts nothing while the others may be in any slice."""

    @property
    def is_equality(self) -> bool:
        """Whether it consists of equalities only."""
        return bool(self.equalities) and is_pure(self.constraint.condition, len(self.equalities))

    def truth(self, environment: Environment) -> int:
        """Whether a row may count: itself, or the NULLs that replace it."""
        outcome = self.holds(environment)
        for side in self.sides:
            if logic.must_be_read(outcome):
                break
            made_up = environment.copy()
            made_up.update((source, Special.NULL) for source in side)
            outcome = logic.either(outcome, self.holds(made_up))
        return outcome


class SliceQuestion:
    """The answers for a box of one variable: whether some slice may be needed, and whether all are.

    `settings` are the states that the other variables can have; so are the slices below `tree`, for one of them.
    `unevaluated` are the calls that an evaluation could not compute.
    """

    def __init__(
        self,
        variable: Variable,
        conditions: Sequence[Condition],
        settings: Sequence[Setting],
        unevaluated: list[Call],
        tree: tuple[Variable, SettingNode] | None = None,
    ) -> None:
        self._variable, self._conditions, self._tree = variable, conditions, tree
        self._environments = [_environment(setting) for setting in settings]
        self._unevaluated = unevaluated
        self._latest = 0  # neighbouring slices go with neighbouring settings: begin with the last match
        self.letting_in: Call | None = None
        """A call that could not be computed and let slices in."""

    def __call__(self, box: Box) -> tuple[bool, bool]:
        some = False
        latest = self._latest
        for at in (*range(latest, len(self._environments)), *range(latest)):
            outcome = self._outcome(self._environments[at], box)
            some = some or logic.can_be_true(outcome)
            if logic.must_be_read(outcome):
                self._latest = at
                return True, True
        if self._tree is None:
            return some, False
        below, every = self._below(*self._tree, box)
        return some or below, every

    def _below(self, other: Variable, root: SettingNode, box: Box) -> tuple[bool, bool]:
        """The answers for the slices of a tree: slices that cannot match are left out together."""
        some, stack = False, [root]
        environment: Environment = {}
        looks = None if _is_slice(box) else _LOOKS
        while stack:
            node = stack.pop()
            other.put(environment, node.box)
            outcome = self._outcome(environment, box)
            if logic.must_be_read(outcome):
                return True, True
            if logic.can_be_true(outcome):
                stack += node.halves
                some = some or not node.halves
            looks = None if looks is None else looks - 1
            if looks == 0:
                return True, False  # a smaller box gets a closer check
        return some, False

    def _outcome(self, environment: Environment, box: Box) -> int:
        self._variable.put(environment, box)
        self._unevaluated.clear()
        outcome = logic.TRUE
        for condition in self._conditions:
            outcome = logic.both(outcome, condition.truth(environment))
            if not logic.can_be_true(outcome):
                break
        if self._unevaluated and outcome != logic.TRUE and self.letting_in is None and _is_taken(outcome, box):
            self.letting_in = self._unevaluated[0]
        return outcome


def _is_taken(outcome: int, box: Box) -> bool:
    """Whether this outcome includes the slices of a box without a closer check."""
    if logic.must_be_read(outcome):
        return True
    return logic.can_be_true(outcome) and _is_slice(box)


def _is_slice(box: Box) -> bool:
    return all(isinstance(value, Range) and value.is_point for value in box)


def _environment(setting: Setting) -> Environment:
    environment: Environment = {}
    for key, value in setting:
        if isinstance(value, Special):
            environment[key] = value
        else:
            environment.update(value)
    return environment
