"""One encoder writes all JSON, and it writes JSON alone."""

from __future__ import annotations

import ast
import json
import math
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsed import ONE_PROCESS, nodes_of, tree_of
from tests.project import CHECKOUT
from tidemark.strict_json import json_text

pytestmark = ONE_PROCESS

_NUMBERS = st.floats() | st.integers()
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.floats(), inner),
)


def _no_number(text: str) -> NoReturn:
    raise AssertionError(f"{text} is no JSON")


@given(_VALUES)
def test_written_text_is_json(value: object) -> None:
    json.loads(json_text(value), parse_constant=_no_number)


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_finite_values_are_written_as_the_library_writes_them(value: object) -> None:
    assert json_text(value, sort_keys=True) == json.dumps(value, sort_keys=True)


@pytest.mark.parametrize(("number", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_numbers_that_json_lacks_are_texts_that_python_reads_back(number: float, text: str) -> None:
    read: dict[str, Any] = json.loads(json_text({"a": [number, 1.5]}))
    assert read == {"a": [text, 1.5]}
    assert str(float(text)) == str(number)


def test_only_this_module_writes_json() -> None:
    calls = [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}"
        for path in (CHECKOUT / "tidemark").rglob("*.py")
        for node in nodes_of(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("dumps", "dump") and ast.unparse(node.value) == "json"
    ]
    assert [call for call in calls if not call.startswith("tidemark/strict_json.py")] == []
