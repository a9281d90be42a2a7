"""What queries read, analysed here or by a process for each core: a project's first check has thousands of them.

The processes are this module, run by itself: they get entities and texts on their standard input and answer with the
reads as JSON. A pool of `multiprocessing` would copy the threads and locks of the Dagster process that reads them,
or run the user's script once more.
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
"""So many entities are analysed sooner than a process has loaded the analysis."""
_log = logging.getLogger(__name__)


class ReadAnalysis:
    """Analyses queries of a project, as Spark's sessions run them: each on its entity's clock."""

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
        """What an entity's queries read, by table. Raises QueryError."""
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
    """What queries read, by entity and table; without those that are wrong, and empty where there are few.

    Takes a process for each core that this one may use. What a process that dies had to do is left out.
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
    """What a new process answers."""
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
    """From a task on standard input to the reads of each entity, those that are wrong left out."""
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
    """Raise QueryError for a parameter that no slice of the entity binds: the query cannot run."""
    for name, place in query.parameters().items():
        if name not in known:
            expected = ", ".join(f":{name}" for name in known) or "none, a Static entity has no business time"
            hint = did_you_mean(name, known)
            raise QueryError(
                "unknown parameter", expected=expected, found=f":{name}", where=query.where(place), hint=hint
            )


if __name__ == "__main__":
    _analyse_task()
