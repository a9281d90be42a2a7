"""What Python functions read, found by dry runs of those that changed: `tidemark check` starts Spark for it, once.

Loading definitions never starts Spark. It takes what the last check found of a function as it stands now; without
that, a function's inputs hold at the natural offset, or at the one that YAML states.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.inferred_read import Read
from tidemark.errors import EntityError, ParseError, TidemarkError
from tidemark.warehouse.declarations import read_declarations
from tidemark.warehouse.inference_cache import InferenceCache

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.system.settings import Settings
    from tidemark.warehouse.declarations import Declarations
    from tidemark.warehouse.python_function import PythonFunction
    from tidemark.warehouse.warehouse import Warehouse


def read_with_dry_runs(root: Path, settings: Settings) -> Declarations:
    """The declarations of a folder, functions analysed; Spark starts only where one was not analysed before."""
    first = read_declarations(root, settings)
    if first.problems or not first.unread:
        return first
    from tidemark.spark.session import spark_session  # noqa: PLC0415 - where no function changed, Spark is not needed
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    session = spark_session(settings)
    warehouse = load_warehouse(settings, root)
    plans = InferenceCache.of(root, settings, kind="plans")
    failed = [
        problem
        for name in warehouse.graph.topological()
        if name in first.unread and (problem := _analyse(session, warehouse, name, plans))
    ]
    return read_declarations(root, settings, plans).with_differences(failed)


def _analyse(session: SparkSession, warehouse: Warehouse, name: str, plans: InferenceCache) -> EntityError | None:
    """Put what a function reads into `plans`; what keeps it from being known is reported, and not kept."""
    entity, function = warehouse.entities[name], warehouse.functions[name]
    try:
        reads = _reads(session, warehouse, name)
    except EntityError as error:
        why = f"{error.message}: {error.found}" if error.found else error.message
        reads = {table: Read(table, function.where, undecidable=why) for table in function.tables}
        plans.keep(entity, [function.text], warehouse.entities, reads, lasting=False)
        return None
    except Exception as error:  # noqa: BLE001 - the function may raise anything
        return _function_error(error, function)
    plans.keep(entity, [function.text], warehouse.entities, reads)
    return None


def _reads(session: SparkSession, warehouse: Warehouse, name: str) -> dict[str, Read]:
    """What a function reads of its parameters. Raises EntityError, and what the function raises."""
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
    """What a function raised, at its line and column."""
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
