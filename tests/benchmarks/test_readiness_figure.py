"""The readiness figure at a hundredth of its size: everything it says is there, and the reference agrees."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import readiness
from benchmarks.readiness import reference
from benchmarks.readiness.world import SINCE, UNTIL, build
from tidemark.dependency_model.slice import Slice


def test_a_small_company_is_judged_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "tick_ms", lambda: 1.0)
    found = readiness.measure(argparse.Namespace(db="sqlite", scale=0.01, minutes=1_440))
    assert (found["accuracy"], found["early"], found["late"], found["missed"], found["doubled"]) == (1.0, 0, 0, 0, 0)
    assert found["facts"] >= 0.99 * found["instances"] > 1_000
    assert found["work_ratio"] == pytest.approx(1.0, abs=0.03)
    assert 0 < found["slices"] < found["instances"] <= found["slices_known"]


def test_the_reference_knows_the_same_inputs_as_the_graph() -> None:
    world = build(0.05)
    for name, period, begin in list(reference.instances(world, SINCE, UNTIL))[::11]:
        expected = sorted(key for key, _ in reference.inputs_of(world, name, period, begin))
        slice_ = Slice(name, reference.key_of(period, begin))
        found = (one for requirement in world.graph.requirements(slice_) for one in requirement.slices)
        assert sorted((one.entity, one.key) for one in found) == expected
