"""Errors say what was expected, what was found, where, and what to do - also on the other side of a process."""

from __future__ import annotations

import pickle

import pytest

from tidemark import errors
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import EntityError, EntityErrors, TerminalError, TidemarkError, TransientError


def test_an_error_is_one_line_for_people() -> None:
    error = EntityError("unknown period", expected="day", found="'dya'", where="a.yaml:3", hint="did you mean 'day'?")
    assert str(error) == "a.yaml:3: unknown period: expected day, found 'dya' - did you mean 'day'?"
    assert str(TerminalError("no")) == "no"


def test_an_error_survives_the_way_between_processes() -> None:
    error = EntityErrors([EntityError("one", where="a.yaml:1"), EntityError("two", hint="do")])
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert str(again) == str(error)
    assert [str(problem) for problem in again.problems] == ["a.yaml:1: one", "two - do"]


@pytest.mark.parametrize("kind", [kind for kind in vars(errors).values() if isinstance(kind, type)])
def test_each_error_is_either_for_good_or_not(kind: type) -> None:
    if issubclass(kind, TidemarkError) and kind is not TidemarkError:
        assert issubclass(kind, TransientError) != issubclass(kind, TerminalError)
        assert kind.__name__ in (errors.__doc__ or "")


def test_the_nearest_of_very_many_names_is_found_in_no_time() -> None:
    names = [f"task_{number:06}" for number in range(80_000)]
    assert did_you_mean("task_04242", names) is not None
    assert did_you_mean("taks_042424", names) == "did you mean 'task_042424'?"
    assert did_you_mean("nothing like it", names) is None
    assert len(quote_value("x" * 10_000)) < 80
