"""The readiness figure at a hundredth of its size: everything it says is there, and the reference agrees."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import readiness
from benchmarks.readiness import reference
from benchmarks.readiness.world import SINCE, UNTIL, build
from tidemark.dependency_model.slice import Slice


@pytest.mark.long
def test_a_small_company_is_judged_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "tick_ms", lambda: 1.0)
    figures = readiness.measure(argparse.Namespace(db="sqlite", scale=0.01, minutes=1_440))
    assert (figures["accuracy"], figures["early"], figures["late"], figures["missed"], figures["doubled"]) == (
        1.0,
        0,
        0,
        0,
        0,
    )
    assert figures["facts"] >= 0.99 * figures["instances"] > 1_000
    assert figures["work_ratio"] == pytest.approx(1.0, abs=0.03)
    assert 0 < figures["slices"] < figures["instances"] <= figures["slices_known"]


def test_the_reference_knows_the_same_inputs_as_the_graph() -> None:
    world = build(0.05)
    for name, period, begin in list(reference.instances(world, SINCE, UNTIL))[::11]:
        expected = sorted(key for key, _ in reference.inputs_of(world, name, period, begin))
        slice_ = Slice(name, reference.key_of(period, begin))
        inputs = (input_ for requirement in world.graph.requirements(slice_) for input_ in requirement.slices)
        assert sorted((input_.entity, input_.key) for input_ in inputs) == expected
