"""The reader of plain declarations means the same as the general one, or leaves a text to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.entity.fast_plain_yaml import read_plain
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.errors import EntityError

words = st.sampled_from(
    [
        "day",
        "Set 0",
        "Range -6..0",
        "a b",
        "10:30",
        "1",
        "-1",
        "+5",
        "0.5",
        "007",
        "true",
        "No",
        "null",
        "~",
        "x:",
        "a: b",
        "a #b",
        "#c",
        "'q'",
        '"Set 0,-1"',
        "'it''s'",
        '"a\\n"',
        "a,b",
        "a, b",
        "- x",
        "-x",
        "[a, b]",
        "[a,b]",
        "[]",
        "{}",
        "{a: b}",
        "{a: b, c: 'd'}",
        "{a: b,c: d}",
        "{entity: x, offset: Set 0,-1}",
        '{entity: x, offset: "Set 0,-1"}',
        "{entity: null}",
        "{a: b, a: c}",
        "[a, [b]]",
        "&x y",
        "*x",
        "!t y",
        "| ",
        ">",
        "%d",
        "@a",
        "`a`",
        "?",
        "é",
        "\t",
        " ",
    ]
)
names = st.sampled_from(["period", "kind", "depends_on", "tags", "a_b", "x", "true", "quality"])
items = st.one_of(words, st.tuples(names, words).map(lambda pair: f"{pair[0]}: {pair[1]}"))
lines = st.one_of(
    st.tuples(names, words).map(lambda pair: f"{pair[0]}: {pair[1]}"),
    names.map(lambda name: f"{name}:"),
    items.map(lambda item: f"  - {item}"),
    st.sampled_from(["", "# note", "  more", "---", "...", "\t", "    - deep", "- flat"]),
    st.text(st.sampled_from("ab:-{}[]'\"#, \n"), max_size=12),
)


@given(st.lists(lines, max_size=7).map("\n".join))
def test_the_fast_reader_equals_yaml(text: str) -> None:
    plain = read_plain(text)
    if plain is not None:
        assert read_document(text, "x.yaml").values == plain


@pytest.mark.long
def test_the_fast_reader_equals_yaml_at_length() -> None:
    from hypothesis import HealthCheck, settings  # only here

    settings(max_examples=200_000, deadline=None, suppress_health_check=list(HealthCheck))(
        test_the_fast_reader_equals_yaml
    )()


def test_the_usual_declaration_is_plain() -> None:
    text = (
        "# A table\ndescription: Orders paid on the day, with their course.\nkind: TimeSeries\nperiod: day\n"
        "start: 2026-03-23\ntags: {product: shop, team: trade}\ndepends_on:\n"
        '  - {entity: ods_orders, offset: "Set -1,0"}\n  - {entity: ods_courses}\n  - ods_users\n'
        "quality:\n  - not_null: [order_id, user_id]\n  - row_count: {min: 1, max: 10}\nready_by: 00:20\nexport: true\n"
    )
    plain = read_plain(text)
    assert plain is not None
    assert plain == read_document(text, "x.yaml").values
    assert (plain["ready_by"], plain["export"], plain["start"]) == ("00:20", True, "2026-03-23")


def test_a_dash_without_an_item_is_left_to_yaml() -> None:
    assert read_plain("depends_on:\n  - ") is None
    assert read_document("depends_on:\n  - ", "x.yaml").values == {"depends_on": [None]}


@pytest.mark.parametrize("text", ["a: b: c\n", "a: 'x' y\n", "a: {b: c\n"])
def test_invalid_yaml_is_left_to_the_general_parser(text: str) -> None:
    assert read_plain(text) is None
    with pytest.raises(EntityError):
        read_document(text, "x.yaml")
