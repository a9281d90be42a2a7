"""docs/transitions.md, written from the table: `python -m tidemark.dependency_model.status.transitions_document`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.dependency_model.status.slice_status import RunState
from tidemark.dependency_model.status.transition import TRANSITIONS, TransitionRule

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """# The states of a slice

Written from `tidemark/dependency_model/status/transition.py`: change the table
there, not this page, and run `python -m tidemark.dependency_model.status.transitions_document > docs/transitions.md`.

A slice has a *run state* (where it is on the way to being there), *states* (what it is good for: estimated, partial,
completed, backfilled - several at once), a *quality* (what its rules said), *issues* (the slices whose failed quality
reaches it), a *taint* (one of its inputs was found wrong after it was computed) and a *generation* (how often it was
asked for). It is *valid* when it is completed, without issues and without taint. Its rows are *unannounced* until its
rules hold: where they never did, the rows of the next generation count as changed, also where they are the same.
"""
_MIDDLE = """
## What may happen

An event that the table does not have in a slice's run state is refused; the refusal names the events that it has.

| event | in these run states | run state after it | what changes | what it means |
| --- | --- | --- | --- | --- |
"""
_SPREAD = """
## Where it goes on

Entities of one `series` hold the same data by different periods. A flag carries the slice that raised it: it is lifted
everywhere, and only there, when that slice has passed its rules; flags that others raised stay. A flag holds back who
reads a slice that carries it, but neither the slice that raised it nor those inside its window: only once these are
computed again can it be right. So flags go level by level: a window, the hour that asks for itself then, the day.

| event | reaches | as |
| --- | --- | --- |
"""
_POLICY = """
## When an input was computed again

Once it has passed its rules, each downstream slice that was tainted by it, and each that is downstream of a backfilled
slice, follows the policy of its own declaration (`reprocess`). One without taint that ignores quality, and has read
just this generation before it passed, is not asked. What is to be computed again waits until all of its inputs are
good, like the first time; `kept` lifts the taint only where no other input is still bad. Where a flag or a taint alone
is lifted the rows are those of before, so that it counts as unchanged; a question of `ask` stays until somebody answers
it, by `kept` or a backfill, also where the input is computed again with the same rows.

| reprocess | what becomes of the downstream slice | input changed | input unchanged |
| --- | --- | --- | --- |
"""


def render() -> str:
    """The page."""
    return "".join([_HEAD, *_diagram(), _MIDDLE, *map(_row, TRANSITIONS), _SPREAD, *_spreads(), _POLICY, *_policies()])


def _diagram() -> Iterator[str]:
    yield "\n```mermaid\nstateDiagram-v2\n  [*] --> waiting\n"
    for row in TRANSITIONS:
        if row.run_state is not None:
            yield from (
                f"  {run_state.value} --> {row.run_state.value}: {row.event.value}\n"
                for run_state in RunState
                if run_state in row.run_states
            )
    yield "```\n"


def _row(row: TransitionRule) -> str:
    run_states = (
        "any"
        if len(row.run_states) == len(RunState)
        else ", ".join(run_state.value for run_state in RunState if run_state in row.run_states)
    )
    run_state = row.run_state.value if row.run_state else "the same"
    return f"| {row.event.value} | {run_states} | {run_state} | {', '.join(_changes(row)) or '-'} | {row.meaning} |\n"


def _changes(row: TransitionRule) -> Iterator[str]:
    yield from _changes_of_states(row)
    if row.quality:
        yield f"quality: {row.quality.value}"
    if row.adds_issue or row.removes_issue:
        yield f"issues: {'+' if row.adds_issue else '-'} the cause"
    if row.tainted is not None:
        yield f"tainted: {'yes' if row.tainted else 'no'}"
    if row.restores:
        yield "states, quality, generation: as before"
    if row.brings_rows:
        yield "unannounced: yes, where its rows changed"
    if row.announces:
        yield "unannounced: no"
    if row.new_generation:
        yield "generation: + 1"


def _changes_of_states(row: TransitionRule) -> Iterator[str]:
    if row.clears_states:
        yield "states: none"
    if row.adds_states:
        yield f"states: + {', '.join(sorted(row.adds_states))}"
    if row.adds_states_again:
        yield f"again: + {', '.join(sorted(row.adds_states_again))}"


def _spreads() -> Iterator[str]:
    for row in TRANSITIONS:
        yield from (f"| {row.event.value} | {spread.to.value} | {spread.event} |\n" for spread in row.spreads)


def _policies() -> Iterator[str]:
    for reprocess, policy in REPROCESS.items():
        yield f"| {reprocess.value} | {policy.meaning} | {policy.changed} | {policy.unchanged} |\n"


if __name__ == "__main__":
    sys.stdout.write(render())
