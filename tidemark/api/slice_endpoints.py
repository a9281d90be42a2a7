"""The endpoints of the console's pages: one slice in full, many slices, the status of every entity, and changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Header, Query
from fastapi.responses import StreamingResponse

from tidemark.api.lake_status import LakeStatusModel, lake_status
from tidemark.api.slice_answer import SliceAnswerModel, slice_answer
from tidemark.api.slice_matrix import MOST_COLUMNS, MatrixColumns, SliceMatrixModel, slice_matrix
from tidemark.api.thread_limits import run_in
from tidemark.api.warehouse_status import WarehouseStatus
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.subject.subject_id import TEXT_LIMIT

if TYPE_CHECKING:
    from fastapi import FastAPI

    from tidemark.api.live_changes import LiveChanges
    from tidemark.api.thread_limits import Threads
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

EXPLANATION: Final = "/v1/explanation"
CHANGES: Final = "/v1/changes"
MATRIX: Final = "/v1/matrix"
STATUS: Final = "/v1/status"
_KNOWN_FOR: Final = timedelta(minutes=1)
"""After this time a slice may be late without any event."""
_STREAM: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_EXAMPLE: Final = 'event: changes\nid: 4711\ndata: {"changes": [{"slice": ..., "event": ..., "run_state": ...}]}\n\n'


def add_explanation(app: FastAPI, warehouse: Warehouse, store: StateStore, threads: Threads) -> None:
    """Serves `/v1/explanation` from the store, so that readers do not delay the center."""

    def answer(text: str) -> SliceAnswerModel:
        return slice_answer(WarehouseStatus(warehouse, store, datetime.now(UTC)), Slice.parse(text))

    @app.get(EXPLANATION)
    async def explanation(
        slice: Annotated[str, Query(max_length=TEXT_LIMIT, examples=["ods_orders@2026-03-29"])],  # noqa: A002
    ) -> SliceAnswerModel:
        """Return everything about one slice:

        what it waits for down to the cause, its history, its rules, its inputs.
        """
        return await run_in(threads.queries, partial(answer, slice))


def add_matrix(app: FastAPI, warehouse: Warehouse, store: StateStore, threads: Threads) -> None:
    """Serves `/v1/matrix` from the store, one answer at a time."""
    turn = asyncio.Lock()

    def answer(search: str, by: MatrixColumns, until: str | None, columns: int) -> SliceMatrixModel:
        return slice_matrix(WarehouseStatus(warehouse, store, datetime.now(UTC)), search, by, until, columns)

    @app.get(MATRIX)
    async def matrix(
        search: Annotated[str, Query(max_length=TEXT_LIMIT, examples=["dws finance"])] = "",
        by: MatrixColumns = MatrixColumns.DAY,
        until: Annotated[str | None, Query(max_length=32, examples=["2026-03-29"])] = None,
        columns: Annotated[int, Query(ge=1, le=MOST_COLUMNS)] = 31,
    ) -> SliceMatrixModel:
        """Return the states of entities' slices by hours, days, months or years of business time.

        `search` has words of names, layers, owners and tags; `until` is the key of the last column.
        """
        async with turn:
            return await run_in(threads.plans, partial(answer, search, by, until, columns))


class StatusAnswers:
    """The status of the lake, computed once for all readers, by one thread at a time."""

    def __init__(self, warehouse: Warehouse, store: StateStore) -> None:
        self._warehouse, self._store = warehouse, store
        self._told: LakeStatusModel | None = None
        self._seen = -1

    def answer(self) -> LakeStatusModel:
        """The status as of the last transition, at most a minute old. Raises StateStoreDownError."""
        now, last = datetime.now(UTC), self._store.read.last()
        if self._told is None or last != self._seen or now - self._told.now > _KNOWN_FOR:
            stands = WarehouseStatus(self._warehouse, self._store, now)
            self._told, self._seen = lake_status(stands, stands.entries), last
        return self._told


def add_status(app: FastAPI, warehouse: Warehouse, store: StateStore, threads: Threads) -> None:
    """Serves `/v1/status`."""
    answers, turn = StatusAnswers(warehouse, store), asyncio.Lock()

    @app.get(STATUS)
    async def status() -> LakeStatusModel:
        """Return the problems that need a person, worst first, and the status of every entity."""
        async with turn:  # many pages ask at once: they take one thread for plans, not all of them
            return await run_in(threads.plans, answers.answer)


def add_changes(app: FastAPI, live: LiveChanges, threads: Threads) -> None:
    """Serves `/v1/changes`."""
    content = {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}}

    @app.get(CHANGES, response_class=StreamingResponse, responses={200: {"content": content}})
    async def changes(last_event_id: Annotated[int | None, Header(ge=0, lt=1 << 53)] = None) -> StreamingResponse:
        """Send changes of slices, from now or from the number of a transition on, for up to a minute."""
        stream = await live.begin(threads.watching, last_event_id)
        return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)
