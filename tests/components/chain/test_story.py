"""What is drawn from a seed is the same again, and every kind of injection has its share."""

from __future__ import annotations

from collections import Counter

from tests.components.chain.statements import Statements
from tests.components.chain.story import KINDS, Story


def test_a_seed_is_one_story() -> None:
    story, same = Story(7, 1000, 60, 4), Story(7, 1000, 60, 4)
    assert story.injections == same.injections
    assert story.injections != Story(8, 1000, 60, 4).injections
    at = story.at(0)
    assert [Statements("7 a").transaction(at) for _ in range(3)] == [
        Statements("7 a").transaction(at) for _ in range(3)
    ]


def test_injections_come_in_order_with_every_kind_among_them() -> None:
    story = Story(3, 1000, len(KINDS) * 4, 24)
    steps = [injection.step for injection in story.injections]
    assert steps == sorted(steps)
    assert 0 < steps[0] <= steps[-1] < story.steps
    assert Counter(injection.kind for injection in story.injections) == Counter(KINDS * 4)


def test_hours_end_with_the_step_that_begins_the_next() -> None:
    story = Story(1, 1000, 0, 2)
    ended = {step: story.hour(step) for step in range(story.steps) if story.hour(step) is not None}
    assert ended == {12: "2026-03-23T00", 24: "2026-03-23T01"}
    assert story.steps > 24
