"""The table of cases is whole: each number has some, each test is there, and an idiom stands in its query."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.corpus import cases
from tests.dependency_model.lineage.numbered_cases import CASES, IDIOMS
from tests.named_tests import named_in

QUERIES = {case.name: case for case in cases()}
ALL = [(number, case, test) for number, tests in CASES.items() for case, test in tests.items()]


def test_no_number_is_left_out() -> None:
    assert [*CASES] == [*range(1, 10)]
    assert all(len(tests) >= 3 for tests in CASES.values())


@pytest.mark.parametrize(("number", "case", "test"), ALL, ids=lambda part: str(part)[:60])
def test_each_case_has_its_test(number: int, case: str, test: str) -> None:
    place, _, name = test.partition("::")
    assert name in (QUERIES if place == "corpus" else named_in(place)), f"{number}, {case}: no {test}"


@pytest.mark.parametrize(("words", "name"), IDIOMS.items())
def test_an_idiom_stands_in_its_query(words: str, name: str) -> None:
    query = QUERIES[name]
    assert words.lower() in query.sql.lower()
    assert all(offset and offset != "undecidable" for offset in query.reads.values()), "an offset, or the reason"
