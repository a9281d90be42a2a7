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

A slice has:

- a *run state*: its progress towards completion;
- *states*: estimated, partial, completed, backfilled; several at once;
- a *quality*: the result of its rules;
- *issues*: the slices that invalidate it because they failed their rules;
- a *taint*: an input was found wrong after the slice was computed;
- a *generation*: the number of times that it was requested.

A slice is *valid* if it is completed, without issues and without a taint. Its rows are *unannounced* until its rules
pass. If they never passed, the rows of the next generation count as changed, even if they are the same.
"""
_MIDDLE = """
## Possible events

Other events are refused in a run state. The error names the allowed events.

| event | in these run states | run state after it | what changes | what it means |
| --- | --- | --- | --- | --- |
"""
_SPREAD = """
## Effects on other slices

Entities of one `series` hold the same data with different periods. A flag names the slice that raised it. It is removed
everywhere when that slice has passed its rules; flags of other slices stay. A flag holds back the readers of a flagged
slice, except the slice that raised it and the slices inside its window: these must be computed again before it can
become valid. So flags are resolved level by level, for example an hour and then its day.

| event | reaches | as |
| --- | --- | --- |
"""
_POLICY = """
## When an input was computed again

When the new rows of an input have passed its rules, the policy (`reprocess`) of each downstream slice applies, if it
was tainted by the input, or if the input was backfilled. There is one exception: a slice without a taint that ignores
quality and has already read this generation.

- A slice that must be computed again waits until all its inputs are valid, like the first time.
- `kept` removes the taint only if no other input is invalid.
- If only a flag or a taint of the input was removed, its rows are the same, so it counts as unchanged.
- With `ask`, the taint stays until a person decides by `kept` or a backfill, even if the input is computed again with
  the same rows.

| reprocess | the effect on the downstream slice | input changed | input unchanged |
| --- | --- | --- | --- |
"""


def render() -> str:
    """The text of the page."""
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
        yield "unannounced: yes, if its rows changed"
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
