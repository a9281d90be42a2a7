"""Compiles a bound expression to a function of a box: slices of each occurrence, a business time, and made-up rows.

Parts that only depend on the business time are computed once for each business time, not for each box.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Column,
    Element,
    Exists,
    InQuery,
    Literal,
    Opaque,
    Parameter,
    Sourced,
    inside_out,
    operands,
    value_parts,
)
from tidemark.dependency_model.lineage.comparison_operators import SqlComparison, is_null
from tidemark.dependency_model.lineage.functions import FUNCTIONS
from tidemark.dependency_model.lineage.functions.case_and_coalesce import CONDITIONS, case_over
from tidemark.dependency_model.lineage.functions.date_digits import rises_with_its_date
from tidemark.dependency_model.lineage.functions.sequences import array_values, sequence_values, span_of
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, hull, monotone, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tidemark.dependency_model.lineage.bound_expression import JoinSource, Occurrence
    from tidemark.dependency_model.lineage.type_conversion import Conversion

Environment = dict[object, Any]
"""Values by `Parameter` and `Column`; `Special.NULL` by each made-up `JoinSource` and each absent occurrence."""
Evaluate = "Callable[[Environment], Value]"

_TRUTHS = (logic.TRUE, logic.FALSE, logic.NULL)
_CHOICES_LIMIT: Final = 3
"""The most CASEs in one comparison whose values are examined separately."""
_CHOSEN: Final = "chosen"
"""The key of an environment for the examined values of CASEs."""
STEPS_LIMIT: Final = 3_000_000
"""The most examined parts of conditions in one analysis. The queries of the tests need less than a third of it."""
_LARGE: Final = 100
"""From this number of parts each counts twice, from twice as many three times, so that a large condition ends soon."""
_FEW_VALUES: Final = 20
"""Up to this many values of sequences are examined one by one for several slices, too."""
_REMEMBERED: Final = 1 << 16
"""The most slices and ranges for which an expression's value is cached."""
_GROWING: Final = frozenset(["concat", "concat_ws", "lpad", "rpad", "replace", "regexp_replace", "+", "-", "*"])
_TEXT_LIMIT: Final = 4_096
_NUMBER_LIMIT: Final = 10**38
_VARYING = (Column, Sourced, Element, Opaque, Exists, InQuery)


class StepsSpentError(Exception):
    """An analysis reached its limit of steps without an answer."""


@dataclass(frozen=True, slots=True)
class _Makeup:
    """The inputs of a value: `keys` of environments, business time, CASEs; `cases` are the compared ones.

    `is_of_columns`: partition columns decide it at any business time. `cases` is None if there are too many to examine
    separately.
    """

    varies: bool
    keys: tuple[object, ...]
    is_timed: bool
    is_of_columns: bool
    has_case: bool
    cases: tuple[Call, ...] | None


class _Fixed:
    """A value that only depends on the business time, with its calls of unknown result."""

    value: Value = Special.UNKNOWN
    unevaluated: tuple[Call, ...] = ()


class _Choice:
    """A CASE in a comparison; in an environment it is the key of the examined value."""

    def __init__(self, arguments: Sequence[Callable[[Environment], Value]]) -> None:
        self.arguments = arguments


class _Chosen(NamedTuple):
    """The examined value of a CASE, and those of the CASEs around it."""

    choice: _Choice
    value: Value
    around: object


class Evaluator:
    """Compiles expressions of one query. `begin` sets the business time for the next evaluations."""

    def __init__(self, conversion: Conversion, partition_columns: Mapping[Occurrence, tuple[str, ...]]) -> None:
        self._conversion = conversion
        self._comparison = SqlComparison(conversion)
        self._comparisons = {
            "=": self._comparison.equal,
            "<": self._comparison.less,
            "<=": self._comparison.at_most,
            "<=>": self._comparison.null_safe_equal,
        }
        self._partition_columns = partition_columns
        self._fixed: list[tuple[_Fixed, Callable[[Environment], Value]]] = []
        self._choices: dict[int, _Choice] = {}
        self._compiled: dict[int, tuple[Bound, Callable[[Environment], Value]]] = {}
        self._makeups: dict[int, _Makeup] = {}
        self._mentions: dict[int, int] = {}
        self._business_time = 0
        self.steps = 0
        self.unevaluated: list[Call] = []
        """Calls with known arguments and an unknown result, since this was last cleared."""

    def begin(self, parameters: Mapping[str, Value]) -> None:
        """Computes everything that only depends on the business time."""
        self._business_time += 1
        environment: Environment = {Parameter(name): value for name, value in parameters.items()}
        for fixed, compute in self._fixed:
            self.unevaluated.clear()
            fixed.value = compute(environment)
            fixed.unevaluated = tuple(self.unevaluated)

    def compile(self, bound: Bound) -> Callable[[Environment], Value]:
        """The function of an expression; always the same one for the same expression."""
        for part in inside_out(bound, self._compiled):
            self._makeups[id(part)] = self._makeup(part)
            self._compiled[id(part)] = (part, self._build(part))
        return self._compiled[id(bound)][1]

    def condition(self, bound: Bound) -> Callable[[Environment], int]:
        """The function of a condition: whether it holds for some value of each sequence in it."""
        parts = list(value_parts(bound))
        for part in parts:
            for below in operands(part):
                self._mentions[id(below)] = self._mentions.get(id(below), 0) + 1
        compute = self.compile(bound)
        size = sum(makeup.varies and not makeup.is_of_columns for part in parts if (makeup := self._makeups[id(part)]))
        size *= 1 + size // _LARGE
        elements = dict.fromkeys(part for part in parts if isinstance(part, Element))
        holds = self._for_some(bound, compute, elements) if elements else compute

        def counted(environment: Environment) -> int:
            self._spend(size)
            return truth_of(holds(environment))

        return counted

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS_LIMIT:
            raise StepsSpentError

    def _for_some(
        self, bound: Bound, compute: Callable[[Environment], Value], elements: Iterable[Element]
    ) -> Callable[[Environment], int]:
        """Several slices are evaluated by the ends of long sequences; single slices, and short lists, by each value."""
        columns = [part for part in value_parts(bound) if isinstance(part, Column) and self._is_partition(part)]
        values_of = {element: self._values(element) for element in elements}

        def holds(environment: Environment) -> int:
            noted = len(self.unevaluated)
            truth = truth_of(compute(environment))
            if truth == logic.TRUE or not logic.can_be_true(truth):
                return truth
            known = [values(environment) for values in values_of.values()]
            sequences = {element: values for element, values in zip(values_of, known, strict=True) if values}
            if any(values is None for values in known) or not (
                _are_points(environment, columns) or prod(map(len, sequences.values())) <= _FEW_VALUES
            ):
                return truth
            del self.unevaluated[noted:]
            return self._some_truth(compute, environment, sequences)

        return holds

    def _some_truth(
        self,
        compute: Callable[[Environment], Value],
        environment: Environment,
        sequences: Mapping[Element, Sequence[Range]],
    ) -> int:
        """Whether it holds for some values. Parts of the sequences in which it cannot hold are skipped together."""
        outcome, stack = logic.FALSE, [tuple(sequences.values())]
        while stack and not logic.must_be_read(outcome):
            parts, noted = stack.pop(), len(self.unevaluated)
            chosen: Environment = {element: span_of(part) for element, part in zip(sequences, parts, strict=True)}
            truth = truth_of(compute({**environment, **chosen}))
            longest = max(range(len(parts)), key=lambda at: len(parts[at]))
            if truth == logic.TRUE or len(parts[longest]) == 1:
                outcome = logic.either(outcome, truth)
                continue
            del self.unevaluated[noted:]
            if logic.can_be_true(truth):
                middle = len(parts[longest]) // 2
                halves = parts[longest][:middle], parts[longest][middle:]
                stack += [(*parts[:longest], half, *parts[longest + 1 :]) for half in halves]
        return outcome

    def _values(self, element: Element) -> Callable[[Environment], list[Range] | None]:
        """The values of a sequence; None if the data decides them, or if they are unknown, which is noted."""
        arguments = [self.compile(argument) for argument in element.sequence.arguments]
        latest: dict[tuple[Value, ...], list[Range] | None] = {}
        listed = array_values if element.sequence.name == "array" else self._of_sequence

        def values(environment: Environment) -> list[Range] | None:
            given = tuple(argument(environment) for argument in arguments)
            if given not in latest:
                latest.clear()
                latest[given] = listed(*given)
            if latest[given] is None and all(map(_is_known, given)):
                self.unevaluated.append(element.sequence)
            return latest[given]

        return values

    def _of_sequence(self, first: Value, last: Value, *step: Value) -> list[Range] | None:
        return sequence_values(self._conversion, *self._comparison.alike(first, last), *step)

    def _element(self, element: Element) -> Callable[[Environment], Value]:
        """The chosen value; before one is chosen, all values from first to last, or of an array."""
        if element.sequence.name == "array":
            listed = [self.compile(argument) for argument in element.sequence.arguments]

            def chosen_or_all(environment: Environment) -> Value:
                chosen = environment.get(element)
                return _between([argument(environment) for argument in listed]) if chosen is None else chosen

            return chosen_or_all
        first, last = (self.compile(argument) for argument in element.sequence.arguments[:2])

        def compute(environment: Environment) -> Value:
            chosen = environment.get(element)
            return hull(self._comparison.alike(first(environment), last(environment))) if chosen is None else chosen

        return compute

    def _is_partition(self, column: Column) -> bool:
        return column.name in self._partition_columns.get(column.occurrence, ())

    def _build(self, bound: Bound) -> Callable[[Environment], Value]:
        if isinstance(bound, Literal):
            value = bound.value
            return lambda _: value
        makeup = self._makeups[id(bound)]
        if not makeup.varies:
            return self._once(self._varying(bound))
        if makeup.is_of_columns and isinstance(bound, Call):
            return self._remembered(self._varying(bound), makeup.keys)
        if isinstance(bound, Call) and self._mentions.get(id(bound), 0) > 1:
            return self._mentioned_often(self._varying(bound), makeup)
        return self._varying(bound)

    def _makeup(self, bound: Bound) -> _Makeup:
        """The inputs of an expression, from those of its operands."""
        below = [self._makeups[id(part)] for part in operands(bound)]
        keys = dict.fromkeys(key for makeup in below for key in makeup.keys)
        is_case = isinstance(bound, Call) and bound.name == "case"
        match bound:
            case Column(occurrence=occurrence):
                keys[bound if self._is_partition(bound) else occurrence] = None
            case Sourced(source=source):
                keys[source] = None
            case Element():
                keys[bound] = None
            case Exists(inner=inner, direct=direct):
                keys.update(dict.fromkeys((*inner, *direct)))
            case InQuery(rows=rows):
                keys.update(dict.fromkeys(rows.inner))
        match bound:
            case Column():
                is_of_columns = self._is_partition(bound)
            case Call():
                is_of_columns = not is_case and all(makeup.is_of_columns for makeup in below)
            case _:
                is_of_columns = isinstance(bound, Literal)
        return _Makeup(
            isinstance(bound, _VARYING) or any(makeup.varies for makeup in below),
            tuple(keys),
            isinstance(bound, Parameter) or any(makeup.is_timed for makeup in below),
            is_of_columns,
            is_case or any(makeup.has_case for makeup in below),
            self._cases(bound, below),
        )

    def _cases(self, bound: Bound, below: Sequence[_Makeup]) -> tuple[Call, ...] | None:
        """The CASEs that make a value, inner ones first, without CASEs inside conditions."""
        if not isinstance(bound, (Sourced, Call)):
            return ()
        is_case = isinstance(bound, Call) and bound.name == "case"
        values = [*below[1::2], below[-1]] if is_case else below
        if any(makeup.cases is None for makeup in values):
            return None
        cases = dict.fromkeys(id(case) for makeup in values for case in makeup.cases or ())
        if len(cases) + is_case > _CHOICES_LIMIT:
            return None
        inside = {id(case): case for makeup in values for case in makeup.cases or ()}
        return (*inside.values(), *([bound] if is_case and isinstance(bound, Call) else []))

    def _mentioned_often(
        self, compute: Callable[[Environment], Value], makeup: _Makeup
    ) -> Callable[[Environment], Value]:
        """Computed once for all mentions, until something that decides it changes."""
        keys = (*makeup.keys, *([_CHOSEN] if makeup.has_case else []))
        is_timed = makeup.is_timed
        latest: tuple[object, ...] | None = None
        value: Value = Special.UNKNOWN
        noted: list[Call] = []

        def read(environment: Environment) -> Value:
            nonlocal latest, value, noted
            key = (self._business_time if is_timed else 0, *[environment.get(name) for name in keys])
            if key == latest:
                self.unevaluated += noted
                return value
            before = len(self.unevaluated)
            value = compute(environment)
            latest, noted = key, self.unevaluated[before:]
            return value

        return read

    def _remembered(
        self, compute: Callable[[Environment], Value], columns: tuple[object, ...]
    ) -> Callable[[Environment], Value]:
        """Cached, because the same slices are evaluated for many business times."""
        known: dict[tuple[Value, ...], tuple[Value, list[Call]]] = {}

        def read(environment: Environment) -> Value:
            key = tuple([environment.get(column, Special.IMPRECISE) for column in columns])
            remembered = known.get(key)
            if remembered is None:
                self._spend(1)
                noted = len(self.unevaluated)
                value = compute(environment)
                if len(known) >= _REMEMBERED:
                    known.clear()
                remembered = known[key] = (value, self.unevaluated[noted:])
            elif remembered[1]:
                self.unevaluated += remembered[1]
            return remembered[0]

        return read

    def _once(self, compute: Callable[[Environment], Value]) -> Callable[[Environment], Value]:
        fixed = _Fixed()
        self._fixed.append((fixed, compute))

        def read(_: Environment) -> Value:
            if fixed.unevaluated:
                self.unevaluated += fixed.unevaluated
            return fixed.value

        return read

    def _varying(self, bound: Bound) -> Callable[[Environment], Value]:
        match bound:
            case Parameter():
                return lambda environment: environment.get(bound, Special.UNKNOWN)
            case Column(occurrence=occurrence):
                if not self._is_partition(bound):
                    return lambda environment: environment.get(occurrence, Special.UNKNOWN)
                return lambda environment: environment.get(bound, Special.IMPRECISE)
            case Sourced(source=source, inner=inner):
                return self._with_source(source, self.compile(inner))
            case Call():
                return self._call(bound)
        return self._of_rows(bound)

    def _of_rows(self, bound: Bound) -> Callable[[Environment], Value]:
        match bound:
            case Element():
                return self._element(bound)
            case Exists():
                return self._exists(bound)
            case InQuery():
                return self._in_query(bound)
        return lambda _: Special.UNKNOWN

    def _with_source(
        self, source: JoinSource, compute: Callable[[Environment], Value]
    ) -> Callable[[Environment], Value]:
        return lambda environment: Special.NULL if source in environment else compute(environment)

    def _exists(self, bound: Exists) -> Callable[[Environment], Value]:
        conditions = [self.condition(condition) for condition in bound.conditions]

        def compute(environment: Environment) -> Value:
            if _is_absent(bound.direct, environment):
                return logic.FALSE
            if _is_absent(bound.inner, environment):
                return logic.EITHER
            outcome = logic.TRUE
            for condition in conditions:
                outcome = logic.both(outcome, condition(environment))
            return logic.existing(outcome)

        return compute

    def _in_query(self, bound: InQuery) -> Callable[[Environment], Value]:
        wanted, given = self.compile(bound.wanted), self.compile(bound.given)
        exists = self._exists(bound.rows)

        def compute(environment: Environment) -> Value:
            row = truth_of(exists(environment))
            if row == logic.FALSE or _is_absent(bound.rows.inner, environment):
                return row
            return logic.existing(logic.both(row, self._comparison.equal(wanted(environment), given(environment))))

        return compute

    def _call(self, call: Call) -> Callable[[Environment], Value]:
        arguments = [self.compile(argument) for argument in call.arguments]
        match call.name, arguments:
            case "and", _:
                return _and(arguments)
            case "or", _:
                return _or(arguments)
            case "not", [argument]:
                return lambda env: logic.negate(truth_of(argument(env)))
            case "is_null", [argument]:
                return lambda env: is_null(argument(env))
            case "is_true", [argument]:
                return lambda env: logic.known_true(truth_of(argument(env)))
        return self._function(call, arguments)

    def _function(self, call: Call, arguments: list[Callable[[Environment], Value]]) -> Callable[[Environment], Value]:
        compare = self._comparisons.get(call.name)
        if compare is not None:
            return self._compared(call, compare, *arguments)
        if call.name == "case":
            return self._case(call, arguments)
        lazy = CONDITIONS.get(call.name)
        if lazy is not None:
            return lambda env: lazy(self._comparison, [argument(env) for argument in arguments])
        if call.name not in FUNCTIONS:  # a list: its values are evaluated one by one
            return lambda _: Special.UNKNOWN
        function, conversion = FUNCTIONS[call.name], self._conversion
        if rises_with_its_date(call):
            return lambda env: monotone(
                lambda *values: function(conversion, *values), *(argument(env) for argument in arguments)
            )

        grows = call.name in _GROWING

        def compute(environment: Environment) -> Value:
            values = [argument(environment) for argument in arguments]
            value = function(conversion, *values)
            if grows and isinstance(value, Range) and _is_huge(value):
                return Special.UNKNOWN
            if value is Special.UNKNOWN and all(map(_is_known, values)):
                self.unevaluated.append(call)
            return value

        return compute

    def _case(self, call: Call, arguments: Sequence[Callable[[Environment], Value]]) -> Callable[[Environment], Value]:
        choice = self._choices[id(call)] = _Choice(arguments)
        case = CONDITIONS[call.name]

        def compute(environment: Environment) -> Value:
            chosen = environment.get(choice)
            return case(self._comparison, [part(environment) for part in arguments]) if chosen is None else chosen

        return compute

    def _compared(
        self,
        call: Call,
        compare: Callable[[Value, Value], int],
        left: Callable[[Environment], Value],
        right: Callable[[Environment], Value],
    ) -> Callable[[Environment], Value]:
        choices = self._choices_in(call)

        def compute(environment: Environment) -> Value:
            first, other = left(environment), right(environment)
            truth = compare(first, other)
            if truth == logic.UNKNOWN and isinstance(first, Range) and isinstance(other, Range):
                self.unevaluated.append(call)
            if choices and truth not in _TRUTHS:
                return self._by_choice(lambda chosen: compare(left(chosen), right(chosen)), environment, choices)
            return truth

        return compute

    def _choices_in(self, call: Call) -> list[_Choice]:
        """The CASEs whose values are compared, inner ones first; empty if there are too many."""
        return [self._choices[id(case)] for case in self._makeups[id(call)].cases or ()]

    def _by_choice(
        self, compute: Callable[[Environment], int], environment: Environment, choices: Sequence[_Choice]
    ) -> int:
        """One comparison for each value of a CASE: between two of its dates are others that it never has."""
        if not choices:
            return compute(environment)
        choice, *others = choices
        values = [argument(environment) for argument in choice.arguments]
        return truth_of(
            case_over(
                self._comparison,
                values,
                lambda value: self._by_choice(
                    compute,
                    {**environment, choice: value, _CHOSEN: _Chosen(choice, value, environment.get(_CHOSEN))},
                    others,
                ),
            )
        )


def _are_points(environment: Environment, columns: Iterable[Column]) -> bool:
    values = (environment.get(column) for column in columns)
    return all(value is Special.NULL or (isinstance(value, Range) and value.is_point) for value in values)


def _between(values: list[Value]) -> Value:
    """The range of an array's values; unknown if the data decides one of them."""
    return Special.UNKNOWN if Special.UNKNOWN in values or not values else hull(values)


def _is_huge(value: Range) -> bool:
    """Whether it is longer than any text or number of a date: a value that doubles in each CTE has no end."""
    if value.type is Type.STRING:
        return len(value.low) > _TEXT_LIMIT or len(value.high) > _TEXT_LIMIT
    return value.type is Type.NUMBER and max(abs(value.low), abs(value.high)) > _NUMBER_LIMIT


def _is_known(value: Value) -> bool:
    return isinstance(value, Range) or value is Special.NULL or value in _TRUTHS


def _and(parts: Sequence[Callable[[Environment], Value]]) -> Callable[[Environment], Value]:
    def compute(environment: Environment) -> Value:
        outcome = logic.TRUE
        for part in parts:
            outcome = logic.both(outcome, truth_of(part(environment)))
            if outcome == logic.FALSE:
                break
        return outcome

    return compute


def _or(parts: Sequence[Callable[[Environment], Value]]) -> Callable[[Environment], Value]:
    def compute(environment: Environment) -> Value:
        outcome = logic.FALSE
        for part in parts:
            outcome = logic.either(outcome, truth_of(part(environment)))
            if outcome == logic.TRUE:
                break
        return outcome

    return compute


def _is_absent(inner: tuple[Occurrence, ...], environment: Environment) -> bool:
    return any(environment.get(variable) is Special.NULL for variable in inner)
