"""The inputs of one run of a slice: decided once at the launch, and stored with it.

The run does not decide again. It opens the slices of the decision in the versions of that time. Its metadata has the
missing slices and the reason why it started without them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.input_read import InputRead
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.dependency_model.readiness.release import Release, Verdict
    from tidemark.dependency_model.status.slice_status import SliceStatus


class UsedSlice(NamedTuple):
    """An input of the decision. The `version` of its table is empty if not known.

    `state` is the state that it had reached before its last one (`estimated`); empty if it had reached the last.
    """

    slice: Slice
    generation: int
    version: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ManifestClause:
    """One dependency of a run: the slices that it opens, the missing ones, and why it may start without them."""

    entity: str
    reason: Reason
    used: tuple[UsedSlice, ...]
    missing: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceManifest:
    """The inputs of one run of a slice towards `state`. `forced` is the reason of a person who launched it anyway.

    With `is_judged` the run itself decided, and no launch of the center has this manifest.
    """

    slice: Slice
    state: str
    clauses: tuple[ManifestClause, ...]
    forced: str = ""
    is_judged: bool = False

    @property
    def used_slices(self) -> dict[str, tuple[UsedSlice, ...]]:
        """The slices to open by upstream, over all clauses, in order of time."""
        merged: dict[str, dict[Slice, UsedSlice]] = {}
        for clause in self.clauses:
            merged.setdefault(clause.entity, {}).update((used.slice, used) for used in clause.used)
        return {
            name: tuple(sorted(by_slice.values(), key=lambda used: used.slice.key)) for name, by_slice in merged.items()
        }

    @property
    def missing(self) -> tuple[Slice, ...]:
        """The missing slices, each once."""
        return tuple(dict.fromkeys(slice_ for clause in self.clauses for slice_ in clause.missing))

    @property
    def is_partial(self) -> bool:
        """Whether it starts without some of its inputs."""
        return bool(self.missing)

    @property
    def unmet(self) -> tuple[ManifestClause, ...]:
        """The clauses that keep the slice waiting."""
        return tuple(clause for clause in self.clauses if clause.reason is Reason.WAITING)

    def reads(self, generation: int) -> Iterator[InputRead]:
        """The inputs of this generation of the slice."""
        for used in (used for clause in self.clauses for used in clause.used):
            yield InputRead(self.slice, generation, used.slice, used.generation, used.state)

    def to_json(self) -> str:
        """The form of the state store. Inputs with equal entity, part, generation, version and state share a row."""
        clauses = [
            [clause.entity, clause.reason.name, _rows(clause.used), [*map(str, clause.missing)]]
            for clause in self.clauses
        ]
        return json_text(
            {"slice": str(self.slice), "state": self.state, "forced": self.forced, "clauses": clauses},
            separators=(",", ":"),
        )

    @classmethod
    def of_json(cls, text: str) -> SliceManifest:
        """The inverse of `to_json`. Raises ValueError, KeyError, TypeError and ParseError for an invalid text."""
        values = json.loads(text)
        clauses = tuple(
            ManifestClause(entity, Reason[reason], tuple(_used(rows)), tuple(map(Slice.parse, missing)))
            for entity, reason, rows, missing in values["clauses"]
        )
        return cls(Slice.parse(values["slice"]), str(values["state"]), clauses, str(values["forced"]))


def manifest_of(
    slice_: Slice, state: str, release: Release, known: KnownSlices, versions: Mapping[Slice, str], forced: str = ""
) -> SliceManifest:
    """The manifest of a decision. A forced run also opens existing inputs that its clauses do not accept."""
    clauses = tuple([_clause(verdict, known, versions, is_forced=bool(forced)) for verdict in release.verdicts])
    return SliceManifest(slice_, state, clauses, forced)


def _clause(verdict: Verdict, known: KnownSlices, versions: Mapping[Slice, str], *, is_forced: bool) -> ManifestClause:
    reason, used = verdict.reason, verdict.used
    if is_forced and not verdict.is_met:
        reason = Reason.FORCED
        there = (slice_ for slice_ in verdict.missing if known.status(slice_).states)
        used = (*used, *there)
    opened = [_used_slice(slice_, known.status(slice_), versions.get(slice_, "")) for slice_ in used]
    return ManifestClause(verdict.requirement.dependency.entity, reason, tuple(opened), verdict.missing)


def _used_slice(slice_: Slice, status: SliceStatus, version: str) -> UsedSlice:
    return UsedSlice(slice_, status.generation, version, status.unfinished_state)


def _rows(used: Sequence[UsedSlice]) -> list[list[object]]:
    def alike(input_: UsedSlice) -> tuple[str, str, int, str, str]:
        head, _, sub = str(input_.slice).partition("/")
        return head.partition("@")[0], sub, input_.generation, input_.version, input_.state

    return [
        [entity, sub, generation, version, [input_.slice.key for input_ in group], *([state] if state else [])]
        for (entity, sub, generation, version, state), group in groupby(used, alike)
    ]


def _used(rows: Iterable[Sequence[object]]) -> Iterable[UsedSlice]:
    for entity, sub, generation, version, keys, *state in rows:
        for key in keys:  # type: ignore[attr-defined]  # a list, as `_rows` wrote it
            text = f"{entity}@{key}/{sub}" if sub else f"{entity}@{key}"
            yield UsedSlice(Slice.parse(text), int(str(generation)), str(version), "".join(map(str, state)))
