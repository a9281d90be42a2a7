"""The circuit breaker as a state machine, against an obvious one: in the end one probe tries again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tidemark.dependency_model.arrival.circuit_breaker import FAILURES, CircuitBreaker, CircuitState
from tidemark.dependency_model.arrival.probe_interval import LONGEST


class Breaking(RuleBasedStateMachine):
    """One system; `in_a_row` counts failures, `under_way` whether an open circuit has let one through."""

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 3, 29, tzinfo=UTC)
        self.breaker, self.in_a_row, self.under_way, self.opened = CircuitBreaker(), 0, False, self.now

    @rule(minutes=st.integers(0, 40))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @precondition(lambda self: self.breaker.allows(self.now))
    @rule(succeeds=st.booleans())
    def probe(self, *, succeeds: bool) -> None:
        self.breaker = self.breaker.begin()
        if self.in_a_row >= FAILURES:
            assert self.breaker.state is CircuitState.HALF_OPEN
            assert not self.breaker.allows(self.now)
        self.in_a_row = 0 if succeeds else self.in_a_row + 1
        self.breaker = self.breaker.succeed() if succeeds else self.breaker.fail(self.now)
        self.opened = self.now

    @invariant()
    def is_closed_exactly_before_so_many_failures(self) -> None:
        assert (self.breaker.state is CircuitState.CLOSED) == (self.in_a_row < FAILURES)

    @invariant()
    def lets_one_through_in_the_end(self) -> None:
        assert self.breaker.allows(self.opened + LONGEST + timedelta(minutes=1))


TestBreaking = Breaking.TestCase
TestBreaking.settings = settings(max_examples=30, stateful_step_count=30)
