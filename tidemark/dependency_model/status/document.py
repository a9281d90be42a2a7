"""docs/transitions.md, written from the table: `python -m tidemark.dependency_model.status.document`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tidemark.dependency_model.status.slice_status import Life
from tidemark.dependency_model.status.spread import REPROCESS
from tidemark.dependency_model.status.transition import TRANSITIONS, Transition

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """# A slice's life

Written from `tidemark/dependency_model/status/transition.py`: change the table
there, not this page, and run `python -m tidemark.dependency_model.status.document > docs/transitions.md`.

A slice has a *life* (where it is on the way to being there), *states* (what it is good for: estimated, partial,
completed, backfilled - several at once), a *quality* (what its rules said), *issues* (the slices whose failed quality
reaches it), a *taint* (one of its inputs was found wrong after it was computed) and a *generation* (how often it was
asked for). It is *valid* when it is completed, without issues and without taint.
"""
_MIDDLE = """
## What may happen

An event that the table does not have in a slice's life is refused, with the ones that it does have.

| event | in these lives | life after it | what changes | what it means |
| --- | --- | --- | --- | --- |
"""
_SPREAD = """
## Where it goes on

Entities of one `series` hold the same data by different periods. A flag carries the slice that raised it: it is lifted
everywhere, and only there, when that slice has passed its rules; flags that others raised stay.

| event | reaches | as |
| --- | --- | --- |
"""
_POLICY = """
## When an input was computed again

Once it has passed its rules, each user that was tainted by it, and each user of a backfilled slice, follows the policy
of its own declaration (`reprocess`). What is to be computed again waits for all of its inputs to be good, like the
first time; `kept` lifts the taint only where no other input is still bad.

| reprocess | what becomes of the user's slice | input changed | input unchanged |
| --- | --- | --- | --- |
"""


def render() -> str:
    """The page."""
    return "".join([_HEAD, *_diagram(), _MIDDLE, *map(_row, TRANSITIONS), _SPREAD, *_spreads(), _POLICY, *_policies()])


def _diagram() -> Iterator[str]:
    yield "\n```mermaid\nstateDiagram-v2\n  [*] --> waiting\n"
    for row in TRANSITIONS:
        if row.life is not None:
            yield from (
                f"  {life.value} --> {row.life.value}: {row.event.value}\n" for life in Life if life in row.lives
            )
    yield "```\n"


def _row(row: Transition) -> str:
    lives = "any" if len(row.lives) == len(Life) else ", ".join(life.value for life in Life if life in row.lives)
    life = row.life.value if row.life else "the same"
    return f"| {row.event.value} | {lives} | {life} | {', '.join(_changes(row)) or '-'} | {row.meaning} |\n"


def _changes(row: Transition) -> Iterator[str]:
    if row.clears_states:
        yield "states: none"
    if row.adds_states:
        yield f"states: + {', '.join(sorted(row.adds_states))}"
    if row.quality:
        yield f"quality: {row.quality.value}"
    if row.adds_issue or row.removes_issue:
        yield f"issues: {'+' if row.adds_issue else '-'} the cause"
    if row.tainted is not None:
        yield f"tainted: {'yes' if row.tainted else 'no'}"
    if row.new_generation:
        yield "generation: + 1"


def _spreads() -> Iterator[str]:
    for row in TRANSITIONS:
        yield from (f"| {row.event.value} | {spread.to.value} | {spread.event} |\n" for spread in row.spreads)


def _policies() -> Iterator[str]:
    for reprocess, policy in REPROCESS.items():
        yield f"| {reprocess.value} | {policy.meaning} | {policy.changed} | {policy.unchanged} |\n"


if __name__ == "__main__":
    sys.stdout.write(render())
