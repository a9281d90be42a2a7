"""Statuses for a run: those of the state store, updated by newer events in Dagster's log."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster import DagsterEventType

from tidemark.center.detectors.event_log import CURSOR, event_id
from tidemark.center.detectors.rules_checked_by_run import RunChecks
from tidemark.center.detectors.told_event import facts_from_metadata, told_slice
from tidemark.center.errors import RequestError
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.earliest_time import earliest
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.readiness.self_starting_slices import is_marker
from tidemark.dependency_model.status import Quality, RunState, SliceStatus
from tidemark.errors import ParseError
from tidemark.warehouse.dagster_partition_keys import partition_of, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.known_slices import Accepts
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

_THERE: Final = SliceStatus(RunState.COMPLETED, frozenset({COMPLETED}), Quality.PASSED)
_PAGE: Final = 400
_AFTER_ALL: Final = "~"


class ObservedSlices:
    """Each status is read once."""

    def __init__(self, graph: DependencyGraph, read: StateReader, instance: dg.DagsterInstance) -> None:
        self._graph, self._read, self._instance = graph, read, instance
        self._checks = RunChecks(instance)
        self._cursor = int(read.cursor(CURSOR) or 0)
        self._statuses: dict[Slice, SliceStatus] = {}
        self._news: dict[str, Mapping[Slice, int]] = {}
        self._told: dict[Slice, str] = {}

    def will_be_there(self, slice_: Slice) -> None:
        """Add a slice that the run computes before the next ones."""
        self._statuses[slice_] = _THERE
        self._told[slice_] = ""

    def status(self, slice_: Slice) -> SliceStatus:
        if slice_ not in self._statuses:
            self._statuses[slice_] = self._look_up(slice_)
        return self._statuses[slice_]

    def newest(self, slice_: Slice, accepts: Accepts) -> Slice | None:
        node = self._graph.node(slice_.entity)
        last = node.ordinal(slice_)
        numbers = {number for input_ in self._known_of(slice_) if (number := self._number(input_)) is not None}
        candidates = (node.slice(number, slice_.sub) for number in sorted(numbers, reverse=True) if number <= last)
        return next((candidate for candidate in candidates if accepts(self.status(candidate))), None)

    def versions(self, slices: Iterable[Slice]) -> dict[Slice, str]:
        """The reported table versions of slices."""
        wanted = list(slices)
        return {
            **self._read.versions(wanted),
            **{input_: self._told[input_] for input_ in wanted if input_ in self._told},
        }

    def _look_up(self, slice_: Slice) -> SliceStatus:
        current = self._read.current(slice_)
        stored = current.status if current else SliceStatus()
        if is_marker(self._graph.node(slice_.entity), slice_):
            return stored if COMPLETED in stored.states else self._of_marker(slice_)
        return self._observed(slice_, stored)

    def _of_marker(self, slice_: Slice) -> SliceStatus:
        """A project's root or end, or a whole of parts, is complete with its slices."""
        not_before = earliest(self._graph.entity(slice_.entity), self._graph.window(slice_))
        decision = release(self._graph.requirements(slice_), self, not_before, datetime.now(UTC))
        return _THERE if decision.is_released else SliceStatus()

    def _observed(self, slice_: Slice, stored: SliceStatus) -> SliceStatus:
        """The stored status, or that of a newer materialization."""
        if slice_ not in self._news_of(slice_.entity):
            return stored
        entity = self._graph.entity(slice_.entity)
        partition = partition_of(entity, slice_)
        records = self._instance.fetch_materializations(
            dg.AssetRecordsFilter(dg.AssetKey([slice_.entity]), asset_partitions=[partition] if partition else None),
            limit=1,
        ).records
        if not records or records[0].asset_materialization is None:
            return stored
        if self._read.known_ids([event_id(records[0].event_log_entry, slice_)]):
            return stored
        told = facts_from_metadata(records[0].asset_materialization)
        has_passed = not entity.quality or self._checks.have_passed(records[0].run_id, entity, partition)
        self._told[slice_] = told.version or ""
        return SliceStatus(
            RunState.COMPLETED if told.state == COMPLETED else RunState.WAITING,
            frozenset({told.state}),
            Quality.PASSED if has_passed else Quality.UNKNOWN,
            stored.issues,
            generation=stored.generation,
        )

    def _news_of(self, name: str) -> Mapping[Slice, int]:
        """The newest materialization of each slice of an entity after the center's position."""
        if name not in self._news:
            self._news[name] = dict(self._materialized(name))
        return self._news[name]

    def _materialized(self, name: str) -> Iterable[tuple[Slice, int]]:
        entity, key = self._graph.entity(name), dg.AssetKey([name])
        if entity.is_static:
            records = self._instance.fetch_materializations(key, limit=1).records
            return [
                (slice_of(entity, None), record.storage_id) for record in records if record.storage_id > self._cursor
            ]
        newest = self._instance.event_log_storage.get_latest_storage_id_by_partition(
            key, DagsterEventType.ASSET_MATERIALIZATION, after_cursor=self._cursor
        )
        told = []
        for partition, storage_id in newest.items():
            with suppress(ParseError, RequestError):  # the center refuses and reports it
                told.append((told_slice(self._graph, name, partition), storage_id))
        return told

    def _known_of(self, slice_: Slice) -> Iterable[Slice]:
        """All known slices of the entity and part."""
        yield from (sibling for sibling in self._news_of(slice_.entity) if sibling.sub == slice_.sub)
        yield from (
            sibling for sibling in self._statuses if sibling.entity == slice_.entity and sibling.sub == slice_.sub
        )
        before, page = _AFTER_ALL, _PAGE
        while page == _PAGE:
            rows = self._read.older([(slice_.entity, slice_.sub)], before, _PAGE)
            yield from (row.slice for row in rows)
            page, before = len(rows), min((row.slice.key for row in rows), default="")

    def _number(self, slice_: Slice) -> int | None:
        with suppress(ParseError):  # with another period, from before the entity changed
            return self._graph.node(slice_.entity).ordinal(slice_)
        return None
