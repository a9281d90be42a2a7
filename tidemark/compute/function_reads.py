"""The inputs of Python functions, found by dry runs of changed functions: `tidemark check` starts Spark once for it.

Loading definitions never starts Spark. It uses the last check's result for the current function. Without one, a
function's inputs have the natural offset, or the one in YAML.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tidemark.delta.log_folder import log_mark
from tidemark.dependency_model.lineage.inferred_read import Read
from tidemark.errors import EntityError, ParseError, TidemarkError
from tidemark.strict_json import json_text
from tidemark.warehouse.declarations import read_declarations
from tidemark.warehouse.function_code import analysed_text
from tidemark.warehouse.inference_cache import InferenceCache
from tidemark.warehouse.query_text import QueryText

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.system.settings import Settings
    from tidemark.warehouse.declarations import Declarations
    from tidemark.warehouse.python_function import PythonFunction
    from tidemark.warehouse.warehouse import Warehouse


def read_with_dry_runs(root: Path, settings: Settings) -> Declarations:
    """The declarations of a folder with analysed functions.

    Spark starts only for a function without a stored analysis.
    """
    first = read_declarations(root, settings)
    if first.problems or not first.unread:
        return first
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    warehouse = load_warehouse(settings, root)
    plans = InferenceCache.of(root, settings, kind="plans")
    with InferenceCache.of(root, settings, kind="undecided") as undecided:
        runs = _DryRuns(warehouse, plans, undecided)
        failed = [
            problem
            for name in warehouse.graph.topological()
            if name in first.unread and (problem := runs.analyse(name))
        ]
    return read_declarations(root, settings, plans).with_differences(failed)


@dataclass
class _DryRuns:
    """`plans` has the inputs of functions, `undecided` the inputs that were not found with the tables of that time."""

    warehouse: Warehouse
    plans: InferenceCache
    undecided: InferenceCache

    def analyse(self, name: str) -> EntityError | None:
        """Stores a function's inputs in `plans`; for this process only, if they cannot be found."""
        entity, function, entities = (
            self.warehouse.entities[name],
            self.warehouse.functions[name],
            self.warehouse.entities,
        )
        text = analysed_text(function)
        known_then = [text, self._tables]
        if open_reads := self.undecided.look_up(entity, known_then, entities):
            self.plans.keep(entity, [text], entities, open_reads, lasting=False)
            return None
        try:
            reads = _reads(self._session, self.warehouse, name)
        except EntityError as error:
            why = f"{error.message}: {error.found}" if error.found else error.message
            reads = {table: Read(table, function.where, undecidable=why) for table in function.tables}
            self.plans.keep(entity, [text], entities, reads, lasting=False)
            self.undecided.keep(entity, known_then, entities, reads)
            return None
        except Exception as error:  # noqa: BLE001 - the function may raise anything
            return _function_error(error, function)
        self.plans.keep(entity, [text], entities, reads)
        return None

    @cached_property
    def _session(self) -> SparkSession:
        from tidemark.spark.session import spark_session  # noqa: PLC0415 - where nothing changed, Spark is not needed

        return spark_session(self.warehouse.settings)

    @cached_property
    def _tables(self) -> QueryText:
        """Everything that decides an input's columns: the existing tables, and the code of the others."""
        there = [name for name in self.warehouse.entities if log_mark(self.warehouse.table_path(name))]
        computed = [analysed_text(function).text for function in self.warehouse.functions.values()]
        known = {name: self.warehouse.columns.columns(name) for name in self.warehouse.entities}
        return QueryText(json_text([there, computed, dict(self.warehouse.queries), known]), "tables")


def _reads(session: SparkSession, warehouse: Warehouse, name: str) -> dict[str, Read]:
    """The inputs that a function reads through its parameters. Raises EntityError, and the function's own errors."""
    from tidemark.compute.function_dry_run import analyzed_plans  # noqa: PLC0415 - loads Spark
    from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession  # noqa: PLC0415
    from tidemark.dependency_model.lineage.spark_plan.function_reads import business_times, infer_reads  # noqa: PLC0415 - loads the SQL parser

    function = warehouse.functions[name]
    subjects = {
        other: EntityOutline(other, entity.period, entity.calendar, entity.start, declared=entity.partition_columns)
        for other, entity in warehouse.entities.items()
    }
    texts = analyzed_plans(session, warehouse, name, business_times(subjects[name]))
    clock = QuerySession(warehouse.entities[name].time_zone)
    try:
        return infer_reads(texts, function.where, subjects[name], subjects, clock)
    except ParseError as error:
        raise EntityError(error.message, found=error.found, where=function.where) from error


def _function_error(error: Exception, function: PythonFunction) -> EntityError:
    """The error of a function, at its line and column."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(function.path) and frame.lineno
    ]
    file = function.where.partition(":")[0]
    message = error.message if isinstance(error, TidemarkError) else str(error).strip().partition("\n")[0]
    return EntityError(
        f"its dry run over empty inputs fails: {message[:300]}",
        found=type(error).__name__,
        where=f"{file}:{own[-1].lineno}:{(own[-1].colno or 0) + 1}" if own else function.where,
    )
