"""The table of the outside world's clauses is whole: each has cases, and each case a test that is there."""

from __future__ import annotations

import pytest

from tests.crawl.outside_cases import CASES
from tests.named_tests import named_in

ALL = [(clause, case, test) for clause, tests in CASES.items() for case, test in tests.items()]


def test_no_test_proves_two_cases_of_a_clause() -> None:
    assert all(len(tests) == len(set(tests.values())) >= 2 for tests in CASES.values())


@pytest.mark.parametrize(("clause", "case", "test"), ALL, ids=lambda part: str(part)[:60])
def test_each_case_has_its_test(clause: str, case: str, test: str) -> None:
    place, _, name = test.partition("::")
    assert name in named_in(place), f"{clause}, {case}: no {test}"
