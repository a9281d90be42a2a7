"""Ids made of conditions: one identity in any order, safe to carry anything, and back to the same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.subject import ConditionValues, DependencySubjectId
from tidemark.errors import ParseError

condition_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
values = st.one_of(
    st.lists(texts, min_size=1, max_size=4).map(ConditionValues.of),
    st.tuples(texts, texts).map(lambda pair: ConditionValues.range(*pair)),
)
ids = st.dictionaries(condition_names, values, min_size=1, max_size=5).map(
    lambda conditions: DependencySubjectId(tuple(sorted(conditions.items())))
)


@given(ids)
def test_what_is_printed_reads_back(subject_id: DependencySubjectId) -> None:
    assert DependencySubjectId.parse(str(subject_id)) == subject_id


@pytest.mark.slow
@given(ids, st.randoms(use_true_random=False))
def test_the_order_of_conditions_does_not_matter(subject_id: DependencySubjectId, random: object) -> None:
    parts = str(subject_id).split("&&")
    random.shuffle(parts)  # type: ignore[attr-defined]
    again = DependencySubjectId.parse("&&".join(parts))
    assert again == subject_id
    assert hash(again) == hash(subject_id)
    assert str(again) == str(subject_id)


def test_the_seeds_example() -> None:
    parse = DependencySubjectId.parse("taskId=1234&&bizDate=20220101")
    assert parse == DependencySubjectId.of(bizDate="20220101", taskId="1234")
    assert str(parse) == "bizDate=20220101&&taskId=1234"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("table=a && dt=20220102,20220101,20220102", "dt=20220101,20220102&&table=a"),
        ("job=a&&bizDate=20220101..20220107", "bizDate=20220101..20220107&&job=a"),
        ("job=a%26%26b&&x=%2E%2E", "job=a%26%26b&&x=%2E%2E"),
    ],
)
def test_forms(text: str, canonical: str) -> None:
    assert str(DependencySubjectId.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a subject id"),
        ("a", "condition 1 is 'a', not name=value"),
        ("a=1&&", "condition 2 is ''"),
        ("a=1&&a=2", "appears twice"),
        ("a=", "standard form"),
        ("a=1,,2", "standard form"),
        ("a=x y", "standard form"),
        ("a=%41", "standard form"),
        ("a=%ff", "standard form"),
        ("a=1..2..3", "standard form"),
        ("a=..", "standard form"),
        ("1a=2", "not name=value"),
        ("a=\ud800", "standard form"),
        ("a=" + "x" * 20_000, "not a subject id"),
    ],
)
def test_an_invalid_id_is_refused(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        DependencySubjectId.parse(text)
