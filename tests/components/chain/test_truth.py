"""What is lost, doubled, torn or too much is told apart."""

from __future__ import annotations

import pytest

from tests.components.chain.truth import Difference, Key, difference

EXPECTED = {("a", 1): 10, ("a", 2): 20}


@pytest.mark.parametrize(
    ("actual", "wrong"),
    [
        ([(("a", 1), 10), (("a", 2), 20)], Difference()),
        ([(("a", 1), 10)], Difference(lost=1, example="('a', 2)")),
        ([(("a", 1), 10), (("a", 2), 20), (("a", 2), 20)], Difference(doubled=1, example="('a', 2)")),
        ([(("a", 1), 11), (("a", 2), 20)], Difference(torn=1, example="('a', 1)")),
        ([(("a", 1), 10), (("a", 2), 20), (("b", 1), 10)], Difference(extra=1, example="('b', 1)")),
    ],
)
def test_differences_are_counted(actual: list[tuple[Key, int]], wrong: Difference) -> None:
    assert difference(actual, EXPECTED) == wrong
    assert bool(wrong) == (wrong != Difference())
