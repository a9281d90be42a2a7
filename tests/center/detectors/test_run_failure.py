"""Why a run failed, as runs of Dagster's own tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tidemark.center.detectors.run_failure import failure_of
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from pathlib import Path


class _NoColumnError(Exception):
    pass


def ours() -> None:
    raise TerminalError("the type changed", expected="int", found="text", hint="cast it")


def wrapped() -> None:
    try:
        ours()
    except TerminalError as error:
        raise RuntimeError("the step broke") from error


def sparks() -> None:
    raise _NoColumnError("[NO_COLUMN] No `amont`. SQLSTATE: 42703; line 1 pos 7;\n'Project\n\tat org.apache.spark.A")


def foreign() -> None:
    raise ValueError("1 \0 and \ud800\nin two lines")


def silent() -> None:
    raise ValueError


def described() -> None:
    raise dg.Failure(description="the partner sent nothing")


SAID = {
    ours: "the type changed: expected int, found text - cast it",
    wrapped: "the type changed: expected int, found text - cast it",
    sparks: "_NoColumnError: [NO_COLUMN] No `amont`.",
    foreign: "ValueError: 1 ? and ? in two lines",
    silent: "ValueError",
    described: "the partner sent nothing",
}


@pytest.mark.slow
def test_the_first_cause_is_said_in_one_sentence(tmp_path: Path) -> None:
    def failing(name: str) -> dg.AssetsDefinition:
        @dg.asset(name=name)
        def computed() -> None:
            next(function for function in SAID if function.__name__ == name)()

        return computed

    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        assets = [failing(function.__name__) for function in SAID]
        run = dg.materialize(assets, instance=instance, raise_on_error=False)
        assert not run.success
        said = {name.__name__: failure_of(instance, run.run_id, name.__name__) for name in SAID}
        assert said == {function.__name__: words for function, words in SAID.items()}
        assert failure_of(instance, run.run_id, "not_begun") in said.values()
        assert failure_of(instance, "no run", "ours") == ""
