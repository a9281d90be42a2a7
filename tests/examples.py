"""How many examples a property is asked for. The long tests ask for TIDEMARK_TEST_EXAMPLES times as many."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES: Final = "TIDEMARK_TEST_EXAMPLES"
_DEFAULT: Final = 100
PROFILE: Final = "tidemark"


def examples(count: int) -> settings:
    """The settings of one property."""
    return settings(max_examples=count * _times())


def each(step: int, values: Iterable[Any]) -> list[Any]:
    """Every `step`-th value of a parametrized test, beginning with the first; `make test-long` tries all of them.

    A tuple (not a named one) gives a value to each name.
    """
    return [value if number % step == 0 else _only_long(value) for number, value in enumerate(values)]


def _only_long(value: Any) -> Any:
    if hasattr(value, "marks"):  # it is a `pytest.param` already
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.long], id=value.id)
    return pytest.param(*(value if type(value) is tuple else (value,)), marks=pytest.mark.long)


def load_profile() -> None:
    """The settings of all others. An example's time is the machine's."""
    settings.register_profile(PROFILE, deadline=None, max_examples=_DEFAULT * _times())
    settings.load_profile(PROFILE)


def _times() -> int:
    return int(os.environ.get(EXAMPLES, "1"))
