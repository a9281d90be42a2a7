"""The text form of a slice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.slice import Slice
from tidemark.errors import ParseError

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
keys = st.sampled_from(["2026-03-29", "2026-03-29T02+01:00", "2026-03-29T03:05", "2026-Q1", "static", "2026"])
subs = st.dictionaries(texts, texts, max_size=3).map(lambda values: tuple(sorted(values.items())))


@given(st.builds(Slice, texts, keys, subs))
def test_what_is_printed_reads_back(slice_: Slice) -> None:
    assert Slice.parse(str(slice_)) == slice_
    assert "\n" not in str(slice_)


def test_forms() -> None:
    assert str(Slice("ods_orders", "2026-03-29")) == "ods_orders@2026-03-29"
    assert Slice.parse("sales@2026-03-29/region=cn/unit=a%2Fb") == Slice(
        "sales", "2026-03-29", (("region", "cn"), ("unit", "a/b"))
    )
    assert len({Slice("a", "2026"), Slice("a", "2026", ()), Slice("b", "2026")}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "@2026",
        "a@",
        "a@2026/",
        "a@2026/x",
        "a@2026/x=",
        "a@2026/=y",
        "a@2026/b=1/a=2",
        "a@2026/b=1/b=2",
        "a b@2026",
        "a@20 26",
        "a@2026@x",
        "%41@2026",
        "a@2026\n",
        "�@2026",
        "a" * 2000 + "@2026",
        "a@" + "1" * 50,
    ],
)
def test_an_invalid_slice_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="entity@key"):
        Slice.parse(text)
