"""The endpoints of the graph: a part of it with offsets, the whole as a picture, and the states of a day."""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Header, Query
from fastapi.responses import Response

from tidemark.api.entity_graph import EntityGraphModel, entity_graph_model, part_of
from tidemark.api.graph_picture import GraphPictureModel, GraphStatesModel, graph_picture, graph_states
from tidemark.api.thread_limits import run_in
from tidemark.catalog.past_project import project_at
from tidemark.center.detectors.external_report import CalendarInstant  # noqa: TC001 - FastAPI reads annotations
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.subject.subject_id import TEXT_LIMIT
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastapi import FastAPI

    from tidemark.api.thread_limits import Threads
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

GRAPH: Final = "/v1/graph"
PICTURE: Final = "/v1/graph/picture"
STATES: Final = "/v1/graph/states"
_ALL: Final = 1_000_000
_Name = Annotated[str | None, Query(max_length=TEXT_LIMIT)]
_Steps = Annotated[int, Query(ge=0, le=_ALL)]
_Words = Annotated[tuple[str, ...], Query(max_length=100)]


class GraphAnswers:
    """Answers about the present graph, and about that of one past time, whose picture is kept for the next question."""

    def __init__(self, warehouse: Warehouse, store: StateStore) -> None:
        self._warehouse, self._store = warehouse, store
        self._past: tuple[datetime, DependencyGraph] | None = None
        self._pictures: dict[DependencyGraph, _Picture] = {}

    def graph(self, as_of: datetime | None) -> DependencyGraph:
        """The graph now, or by the code that had computed each table by then."""
        if as_of is None:
            return self._warehouse.graph
        if self._past is None or self._past[0] != as_of:
            then = project_at(self._store, self._warehouse.entities, self._warehouse.queries, as_of)
            if self._past:
                self._pictures.pop(self._past[1], None)
            self._past = as_of, DependencyGraph.build(then.entities)
        return self._past[1]

    def part(
        self, around: tuple[str, int, int] | None, to: str | None, tags: Sequence[str], layers: Sequence[str]
    ) -> EntityGraphModel:
        """A part of the present graph. Raises ParseError and UnknownEntityError."""
        graph = self.graph(None)
        return entity_graph_model(graph, part_of(graph, dict(map(_tag, tags)), layers, around, to))

    def picture(self, as_of: datetime | None) -> _Picture:
        """The picture of a graph."""
        graph = self.graph(as_of)
        if graph not in self._pictures:
            self._pictures[graph] = _Picture(graph_picture(graph))
        return self._pictures[graph]

    def states(self, at: str | None, as_of: datetime | None) -> GraphStatesModel:
        """The states of a day, by default of the present one. Raises ParseError and StateStoreDownError."""
        now = datetime.now(UTC)
        day = at or Calendar(self._warehouse.settings.time_zone).key(Period.DAY, now)
        return graph_states(self.graph(as_of), self._store.database, day, now, as_of)


class _Picture:
    """The bytes of an answer, which are made once."""

    def __init__(self, picture: GraphPictureModel) -> None:
        self._plain = picture.model_dump_json().encode()
        self._packed = gzip.compress(self._plain, 5, mtime=0)
        self._tag = f'"{sha256(self._plain).hexdigest()[:32]}"'

    def response(self, known: str, accepted: str) -> Response:
        """The answer, or 304 if the caller has it."""
        headers = {"ETag": self._tag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
        if known == self._tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in accepted:
            return Response(self._plain, media_type="application/json", headers=headers)
        packed = {**headers, "Content-Encoding": "gzip"}
        return Response(self._packed, media_type="application/json", headers=packed)


def add_graph(app: FastAPI, warehouse: Warehouse, store: StateStore, threads: Threads) -> None:
    """Serves the graph from the store, one answer at a time."""
    answers, turn = GraphAnswers(warehouse, store), asyncio.Lock()

    @app.get(GRAPH)
    async def graph(
        entity: _Name = None,
        up: _Steps = _ALL,
        down: _Steps = _ALL,
        to: _Name = None,
        tag: _Words = (),
        layer: _Words = (),
    ) -> EntityGraphModel:
        """Return the dependencies between entities: all of them, those around an entity, or the ways `to` another.

        `tag` (KEY=VALUE) and `layer` may be repeated.
        """
        if to is not None and entity is None:
            raise ParseError("a way needs its first entity", found=f"to={to}", hint="add entity=NAME")
        around = None if entity is None else (entity, up, down)
        async with turn:
            return await run_in(threads.plans, partial(answers.part, around, to, tag, layer))

    @app.get(PICTURE, responses={200: {"model": GraphPictureModel}, 304: {"description": "not changed"}})
    async def picture(
        as_of: CalendarInstant | None = None,
        if_none_match: Annotated[str, Header()] = "",
        accept_encoding: Annotated[str, Header()] = "",
    ) -> Response:
        """Return the whole graph as columns of numbers, with a place for each entity in a layered picture.

        With `as_of`, by the code that had computed each table by then.
        """
        async with turn:
            told = await run_in(threads.plans, partial(answers.picture, as_of))
        return told.response(if_none_match, accept_encoding)

    @app.get(STATES)
    async def states(
        at: Annotated[str | None, Query(max_length=32, examples=["2026-03-29"])] = None,
        as_of: CalendarInstant | None = None,
    ) -> GraphStatesModel:
        """Return the state of each entity of the picture at the end of a day of business time, one letter for each."""
        async with turn:
            return await run_in(threads.plans, partial(answers.states, at, as_of))


def _tag(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ParseError("a tag needs a value", expected="KEY=VALUE", found=text)
    return key, value
