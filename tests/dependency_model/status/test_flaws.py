"""The reasons, in words, why readers do not accept a slice."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus
from tidemark.dependency_model.status.flaws import flaws

HOUR = Slice("foo_1h", "2024-06-01T15")
TENS = [Slice("foo_10min", f"2024-06-01T15:{minute}0") for minute in range(4)]
THERE = {"run_state": RunState.COMPLETED, "states": frozenset({"completed"}), "quality": Quality.PASSED}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"run_state": RunState.WAITING, "states": frozenset(), "quality": Quality.UNKNOWN}, []),
        ({"quality": Quality.UNKNOWN}, ["its rules have not been checked"]),
        (
            {"issues": frozenset([HOUR, TENS[1]]), "quality": Quality.FAILED},
            ["its rules are broken", "the rules of foo_10min@2024-06-01T15:10 are broken"],
        ),
        (
            {"issues": frozenset(TENS), "tainted": True, "states": frozenset({"completed", "foreign"})},
            [
                f"the rules of {TENS[0]}, {TENS[1]}, {TENS[2]} and 1 more are broken",
                "it was computed from an input that was found wrong",
                "another program has changed its data in storage",
            ],
        ),
    ],
)
def test_each_flaw_is_a_sentence(changes: dict[str, object], expected: list[str]) -> None:
    assert flaws(HOUR, SliceStatus(**{**THERE, **changes})) == expected  # type: ignore[arg-type]
