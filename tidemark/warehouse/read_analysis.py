"""The inputs of queries, analysed here or in one process for each core: a first check may have thousands of them.

The processes run this module. They get entities and texts on standard input, and answer with the inputs as JSON. A pool
of `multiprocessing` would copy the threads and locks of the Dagster process, or run the user's script again.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.lineage.business_time_parameters import parameter_names
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.table_names import refuse_other_names
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.dependency_model.time.period import Period
from tidemark.errors import EntityError, QueryError
from tidemark.strict_json import json_text
from tidemark.warehouse.known_columns import declared_columns
from tidemark.warehouse.query_text import reads_as_json, reads_from_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.warehouse.query_text import QueryText

FEW: Final = 150
"""The most entities that are analysed faster than a process loads the analysis."""
_log = logging.getLogger(__name__)


class ReadAnalysis:
    """Analyses queries of a project as Spark's sessions run them: each on its entity's clock."""

    def __init__(self, entities: Mapping[str, Entity]) -> None:
        self._outlines = {
            entity.name: EntityOutline(
                entity.name,
                entity.period,
                entity.calendar,
                entity.start,
                declared_columns(entity, entities),
                entity.partition_columns,
                tuple(sorted(entity.sub_partitions)),
            )
            for entity in entities.values()
        }

    def reads(self, entity: Entity, texts: Sequence[QueryText]) -> dict[str, Read]:
        """The inputs of an entity's queries by table. Raises QueryError."""
        queries = [read_query(text.text, file=text.file, first_line=text.first_line) for text in texts]
        views = {view.name: view for text in texts for view in text.views}
        of_views = {name: read_query(view.means, file=view.file) for name, view in views.items()}
        written = [text.names for text in texts] + [view.names for view in views.values()]
        is_view = entity.kind is EntityKind.VIEW
        known = parameter_names(Period.FIVE_MINUTES if is_view else entity.period)
        for query, names in zip([*queries, *of_views.values()], written, strict=True):
            _refuse_unknown_parameters(query, known)
            refuse_other_names(query, names)
        down = EntityOutline(entity.name, None, entity.calendar) if is_view else self._outlines[entity.name]
        clock = QuerySession(entity.time_zone)
        own = None if is_view else queries[0]
        return infer(queries, down, self._outlines, session=clock, views=of_views, written=own)


def analyse_apart(
    entities: Mapping[str, Entity], texts_by_name: Mapping[str, Sequence[QueryText]]
) -> dict[str, dict[str, Read]]:
    """The inputs of queries by entity and table, without queries that have errors; empty with few queries.

    It uses one process for each available core. The queries of a process that dies are left out.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = min(cores, len(texts_by_name) // FEW)
    if processes < 2:
        return {}
    names = sorted(texts_by_name)
    tasks = [
        pickle.dumps((dict(entities.items()), {name: texts_by_name[name] for name in names[at::processes]}))
        for at in range(processes)
    ]
    with ThreadPoolExecutor(processes) as waiting:
        answers = [answer for answered in waiting.map(_answer, tasks) for answer in answered.items()]
    return {name: reads_from_json(reads) for name, reads in answers}


def _answer(task: bytes) -> dict[str, Any]:
    """The answer of a new process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, "-m", __name__], input=task, capture_output=True, env=environment, check=False
    )
    if run.returncode:
        _log.warning("a process that analyses queries ended with %d: %s", run.returncode, run.stderr[-500:].decode())
        return {}
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def _analyse_task() -> None:
    """Reads a task from standard input and writes the inputs of each entity, without entities that have errors."""
    entities, texts_by_name = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the process that started this one
    analysis = ReadAnalysis(entities)
    reads_by_name = {}
    for name, texts in texts_by_name.items():
        try:
            reads_by_name[name] = reads_as_json(analysis.reads(entities[name], texts))
        except EntityError:
            continue
    sys.stdout.write(json_text(reads_by_name))


def _refuse_unknown_parameters(query: Query, known: Sequence[str]) -> None:
    """Raises QueryError for a parameter that slices of the entity do not have."""
    for name, place in query.parameters().items():
        if name not in known:
            expected = ", ".join(f":{name}" for name in known) or "none, a Static entity has no business time"
            hint = did_you_mean(name, known)
            raise QueryError(
                "unknown parameter", expected=expected, found=f":{name}", where=query.where(place), hint=hint
            )


if __name__ == "__main__":
    _analyse_task()
