"""Shows invalid slices in Dagster: the check `valid` of a slice's partition fails while it is unusable (C9).

It fails if failed rules reach a slice, over the time hierarchy or as a taint, and if a slice waits for such a slice;
with the cause. It passes afterwards. The state store records a report, with the last transition, after it was made:
after a crash, Dagster's current checks are read, so nothing is lost or reported twice.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import dagster as dg

from tidemark.center.explain_command import explain_command
from tidemark.dagster_internals.partition_checks import newest_result, report_check
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.dependency_model.status.flaws import VALID, VALIDITY_CHECK
from tidemark.errors import ParseError
from tidemark.state_store.invalidated_slices import invalidated_slices
from tidemark.state_store.positions import note_position
from tidemark.strict_json import json_text
from tidemark.system.due_times import DueTimes
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.readiness.invalidity import Invalidity

CURSOR: Final = "checks of validity"
_AT_ONCE: Final = 50
"""Reports in one tick: each takes Dagster's storage some time."""
_READ_AT_ONCE: Final = 1_000
_LOOKED_BACK: Final = 10_000
"""Transitions to look at the first time."""
_WAITING_SECONDS: Final = 10.0
_WAITING: Final = 200
"""The number of newest waiting slices to check; older ones were reported when they began to wait."""
_SHOWN: Final = 5


class Told(NamedTuple):
    """A report about an invalid slice, and the slice's run at that time: a later run may have more to report."""

    why: str
    run: str | None


class ValidityChecks:
    """Call `poll` in the ticks of the host with the lease."""

    def __init__(self, center: DependencyCenter) -> None:
        self._center, self._store = center, center.store
        self._told: dict[Slice, Told] | None = None
        self._suspects: dict[Slice, None] = {}
        self._read_until = self._noted_until = self._judged_until = 0
        self._due = DueTimes()

    def begin_anew(self) -> None:
        """Another host may have reported more: start from the stored state."""
        self._told = None

    def poll(self, instance: dg.DagsterInstance, now: datetime) -> int:
        """Report changes to Dagster, a limited number at once; returns the number.

        Raises StateStoreDownError, FencedError, and errors of Dagster's storage.
        """
        last = self._store.read.last()
        told = self._begin(last) if self._told is None else self._told
        self._gather(last, now)
        judged = self._center.invalidities({**self._suspects, **({} if last == self._judged_until else told)})
        invalid = {slice_: why for slice_, why in judged.items() if why}
        wanted = {slice_: self._to_tell(slice_, why, told.get(slice_)) for slice_, why in invalid.items()}
        news = [slice_ for slice_ in judged if wanted.get(slice_) != told.get(slice_)]
        for slice_ in news[:_AT_ONCE]:
            self._tell(instance, slice_, invalid.get(slice_), last)
            told.pop(slice_, None)
            told.update({slice_: wanted[slice_]} if slice_ in wanted else {})
        self._suspects, self._judged_until = dict.fromkeys(news[_AT_ONCE:]), last
        if news or self._read_until - self._noted_until >= _LOOKED_BACK:
            self._note(told, self._noted_until if self._suspects else self._read_until)
        return min(len(news), _AT_ONCE)

    def _to_tell(self, slice_: Slice, invalid: Invalidity, told: Told | None) -> Told:
        """An active run has reported nothing yet."""
        memory = self._center.memory
        run = told.run if told is not None and slice_ in memory.under_way else memory.runs.get(slice_)
        return Told(invalid.why, run)

    def _begin(self, last: int) -> dict[Slice, Told]:
        stored = json.loads(self._store.read.cursor(CURSOR) or "{}")
        self._read_until = self._noted_until = stored.get("until", max(0, last - _LOOKED_BACK))
        self._suspects, self._judged_until = {}, -1
        self._told = {Slice.parse(text): Told(*values) for text, values in stored.get("told", {}).items()}
        return self._told

    def _note(self, told: Mapping[Slice, Told], until: int) -> None:
        values = {"until": until, "told": {str(slice_): list(said) for slice_, said in told.items()}}
        note_position(self._store, CURSOR, json_text(values))
        self._noted_until = until

    def _gather(self, last: int, now: datetime) -> None:
        """Slices that may have become invalid, or may wait for an invalid one.

        Their time comes without a transition.
        """
        while self._read_until < last:
            database, after = self._store.database, self._read_until
            slices, self._read_until = invalidated_slices(database, after, last, _READ_AT_ONCE)
            for slice_ in slices:
                self._suspects.update(dict.fromkeys(self._with_downstream(slice_, now)))
        if self._due.has_come("waiting", _WAITING_SECONDS):
            _, waiting = self._center.waiting(now, _WAITING)
            self._suspects.update(dict.fromkeys(waiting))

    def _with_downstream(self, slice_: Slice, now: datetime) -> Iterator[Slice]:
        graph = self._center.graph
        with suppress(ParseError):  # with another period, from before the entity changed
            if slice_.entity in graph and graph.exists(slice_):
                yield slice_
                yield from graph.downstream(slice_, now)

    def _tell(self, instance: dg.DagsterInstance, slice_: Slice, invalid: Invalidity | None, last: int) -> None:
        """Skip slices without a partition in Dagster, and results that it shows already."""
        partition = self._partition(slice_)
        if partition is None:
            return
        evaluation = dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey([slice_.entity]),
            check_name=VALIDITY_CHECK,
            passed=invalid is None,
            partition=partition,
            severity=dg.AssetCheckSeverity.ERROR,
            description=invalid.why if invalid else VALID,
            metadata=self._cause(slice_, invalid) if invalid else {},
        )
        shown = newest_result(instance, evaluation.asset_check_key, partition)
        is_shown = shown is not None and shown.passed == evaluation.passed
        if not is_shown or (invalid and shown and shown.description != invalid.why):
            report_check(instance, evaluation, f"{VALIDITY_CHECK}-{last}")

    def _partition(self, slice_: Slice) -> str | None:
        graph = self._center.graph
        if slice_.entity not in graph:
            return None
        entity = graph.entity(slice_.entity)
        if entity.is_project or (entity.sub_partitions and not slice_.sub):
            return None
        with suppress(ParseError, ValueError):  # with another period, from before the entity changed
            return partition_of(entity, slice_)
        return None

    def _cause(self, slice_: Slice, invalid: Invalidity) -> dict[str, str]:
        """The slices and rules that are the cause; for a taint without a failed rule, its author and reason."""
        causes = invalid.causes[:_SHOWN]
        broken = [f"{cause}: {self._newest(cause, Event.QUALITY_FAILED)}" for cause in causes]
        tainted = "" if causes else self._newest(slice_, Event.TAINTED)
        told = {"invalid_slices": ", ".join(map(str, causes)), "broken_rules": "; ".join(broken), "tainted": tainted}
        return {**{name: text for name, text in told.items() if text}, "explain": explain_command(slice_)}

    def _newest(self, slice_: Slice, event: Event) -> str:
        history = self._store.read.history(slice_)
        return next((transition.why for transition in reversed(history) if transition.event is event), "")
