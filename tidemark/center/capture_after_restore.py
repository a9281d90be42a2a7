"""Compares the capture's positions after a restore: the lake's tables with the sources, the tags, and the lease.

The position of a captured table is in its last commit, so the capture continues there whatever was restored. A lake
that is behind its topics reads the changes again. A lake that is ahead of a topic, or misses changes that the topic has
deleted, needs a person. Tags that the state store lacks are made again from the commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.commits.capture_lease import CaptureLease, forget_lease
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.snapshots.tagging import untagged
from tidemark.capture.source_table import topic_of
from tidemark.center.restore_step import RestoreStep, StepKind
from tidemark.dependency_model.slice import Slice
from tidemark.errors import TerminalError, TidemarkError
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.capture.source.kafka.broker_offsets import Bounds
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse


class CaptureAfterRestore:
    """For one project whose processes are stopped."""

    def __init__(self, warehouse: Warehouse, store: StateStore) -> None:
        self._warehouse, self._settings, self._database = warehouse, warehouse.settings, store.database

    def steps(self) -> Iterator[RestoreStep]:
        """The differences. Nothing is written."""
        sources = self._warehouse.source_tables()
        if not sources:
            return
        if later := CaptureLease.later_holder(self._settings, self._database):
            why = "the lease of the lake is later than the state store's: its capture would be refused"
            yield RestoreStep(StepKind.TAKE_OVER, why, names=(later,))
        if tags := tuple(slice_ for source in sources for slice_ in self._untagged(source)):
            why = "the state store is behind the lake, whose commits have these slices"
            yield RestoreStep(StepKind.TAG, why, slices=tags)
        yield from self._positions(sources)

    def apply(self) -> None:
        """Let this state store capture into the lake; the next step takes the lease."""
        if CaptureLease.later_holder(self._settings, self._database):
            forget_lease(self._settings, self._database)

    def _untagged(self, source: SourceTable) -> Iterator[Slice]:
        try:
            missing = untagged(SnapshotRegistry(self._database), self._settings.warehouse / source.name)
        except (TerminalError, FileNotFoundError):  # the comparison of tables reports it
            return
        for commit in reversed(missing):
            yield from (Slice(end.entity, end.slice) for end in commit.state.closes)

    def _positions(self, sources: tuple[SourceTable, ...]) -> Iterator[RestoreStep]:
        if not self._settings.kafka:
            return
        from tidemark.capture.source.kafka.broker_offsets import Broker  # noqa: PLC0415 - loads Kafka's client

        topics = sorted({topic_of(name) for source in sources for name in source.instances})
        try:
            looked = Broker(self._settings.kafka).look(topics)
        except TidemarkError as error:
            yield RestoreStep(StepKind.SEE_TO, f"the topics cannot be compared: {error}", names=tuple(topics))
            return
        missing = {topic: str(error) for topic, error in looked.items() if isinstance(error, TidemarkError)}
        for topic, trouble in missing.items():
            yield RestoreStep(StepKind.SEE_TO, f"the topic cannot be compared: {trouble}", names=(topic,))
        bounds = {topic: answer for topic, answer in looked.items() if not isinstance(answer, TidemarkError)}
        yield from self._compared(sources, bounds)

    def _compared(self, sources: tuple[SourceTable, ...], bounds: Mapping[str, Bounds]) -> Iterator[RestoreStep]:
        behind, lost, ahead = list[str](), list[str](), list[str]()
        for source in sources:
            for topic, offset in self._offsets(source).items():
                if topic not in bounds:
                    continue
                low, high = bounds[topic].low, bounds[topic].high
                told = f"{source.name}: {topic} from {offset:,} of {high:,}"
                if offset > high:
                    ahead.append(told)
                elif offset < low:
                    lost.append(f"{told}, which begins at {low:,}")
                elif offset < high:
                    behind.append(told)
        if behind:
            why = "the lake is behind its sources: the capture reads these changes"
            yield RestoreStep(StepKind.CATCH_UP, why, names=tuple(behind))
        reload = "`tidemark capture reload TABLE` reads the table again from its source"
        if lost:
            why = f"the topics no longer have the changes after the position of the lake: {reload}"
            yield RestoreStep(StepKind.SEE_TO, why, names=tuple(lost))
        if ahead:
            why = f"the lake is ahead of its topics, which are older copies or new: {reload}"
            yield RestoreStep(StepKind.SEE_TO, why, names=tuple(ahead))

    def _offsets(self, source: SourceTable) -> Mapping[str, int]:
        """The next offset of each topic; empty without a table, which begins at its start."""
        try:
            last = last_commit(self._settings.warehouse / source.name)
        except (TerminalError, FileNotFoundError):  # the comparison of tables reports it
            return {}
        return last.state.offsets if last else {}
