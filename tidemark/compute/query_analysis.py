"""Spark's analysis of queries and rules over known columns: `check` reports wrong columns, functions and types.

The columns of an upstream are those of its query, else those of its table. A query with unknown columns of an upstream
is skipped. The result is cached until the query or a column of its upstreams changes, so a check without changes starts
no Spark.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.business_time import slice_column_types, sql_parameters
from tidemark.compute.slice_clock import TIME_ZONE, clock_of, comparable_plan
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.entity.sub_partition import combinations
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE
from tidemark.errors import EntityError
from tidemark.strict_json import json_text
from tidemark.system.errors import SchemaChangedError
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache
from tidemark.warehouse.dagster_partition_keys import first_slice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from tidemark.dependency_model.entity import Entity, QualityRule
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

_PLACE: Final = re.compile(r"line (\d+),? pos (\d+)")
_SQLSTATE: Final = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)
_LONGEST: Final = 400
_FORMAT: Final = "3"
"""Another number invalidates the cache."""

Schema = dict[str, Any]
"""A table's columns in the JSON form of Spark and Delta."""


@dataclass(frozen=True)
class _Analysis:
    """Spark's result for a query: the columns, or the error with line and position in the query.

    For an error of a quality rule, `rule` is its index in `quality`.
    """

    schema: Schema | None
    message: str = ""
    line: int = 1
    position: int = 1
    rule: int | None = None

    def as_data(self) -> dict[str, Any]:
        return vars(self)


class QueryAnalysis:
    """One check of a loaded warehouse. `start_spark` is called at most once, when something is not cached."""

    def __init__(self, warehouse: Warehouse, start_spark: Callable[[], SparkSession]) -> None:
        self._warehouse, self._start = warehouse, start_spark
        self._path = cache_path("analysis", warehouse.settings.declarations, warehouse.settings)
        self._kept = read_cache(self._path)
        self._schemas: dict[str, Schema | None] = {}

    def problems(self) -> dict[str, EntityError]:
        """The errors of the queries by entity, upstream first. Raises errors of Spark's start."""
        return self._problems_by_entity

    @cached_property
    def _problems_by_entity(self) -> dict[str, EntityError]:
        if self._path is None:  # nothing was ever computed here, and there is no cache
            return {}
        entries: dict[str, Any] = {}
        problems: dict[str, EntityError] = {}
        for name in self._warehouse.graph.topological():
            analysis = self._of_entity(name, entries)
            own = self._of_table(name)
            self._schemas[name] = (analysis.schema if analysis else None) or own
            if analysis and analysis.message:
                problems[name] = self._problem(name, analysis)
        write_cache(self._path, entries)
        return problems

    def goes_by_clock(self, name: str) -> bool:
        """Whether an entity's rows may depend on its clock: Spark analyses the query on UTC's clock and on its own.

        True for functions, and for queries of unknown columns. Raises errors of Spark's start.
        """
        if not self._schemas:
            self.problems()
        query, upstreams = self._warehouse.queries.get(name), self._upstreams(name)
        if not query or upstreams is None or name in self._warehouse.functions:
            return True
        zones = {clock_of(self._warehouse.graph, slice_)[TIME_ZONE] for slice_ in self._first_slices(name)}
        return any(self._differs(name, upstreams, zone) for zone in sorted(zones - {SPARK_TIME_ZONE}))

    def _first_slices(self, name: str) -> list[Slice]:
        first = first_slice(self._warehouse.graph, name)
        subs = combinations(self._warehouse.entities[name].sub_partitions)
        return [first._replace(sub=sub) for sub in subs] or [first]

    def _differs(self, name: str, upstreams: Mapping[str, Schema], zone: str) -> bool:
        from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415 - where nothing changed, no Spark

        session, plans = self._session_with(upstreams), []
        parameters = sql_parameters(self._warehouse.graph, first_slice(self._warehouse.graph, name))
        try:
            for clock in (SPARK_TIME_ZONE, zone):
                session.conf.set(TIME_ZONE, clock)
                plans.append(session.sql(self._warehouse.queries[name], args=dict(parameters)))
        except (AnalysisException, ParseException):
            return True
        return comparable_plan(plans[0]) != comparable_plan(plans[1])

    def _of_entity(self, name: str, entries: dict[str, Any]) -> _Analysis | None:
        query = self._warehouse.queries.get(name)
        upstreams = self._upstreams(name)
        if query is None or upstreams is None:
            return None
        key = self._key(name, query, upstreams)
        entries[key] = self._kept.get(key) or self._analysed(name, upstreams).as_data()
        return _Analysis(**entries[key])

    def _upstreams(self, name: str) -> dict[str, Schema] | None:
        """The columns of a query's inputs; None if those of an input are not known."""
        entity = self._warehouse.entities[name]
        names = {dependency.entity for state in entity.states for dependency in state.depends_on}
        tables = [other for other in sorted(names) if not self._warehouse.graph.entity(other).is_project]
        schemas = {table: self._of_table(table) if table == name else self._schemas.get(table) for table in tables}
        known = {table: schema for table, schema in schemas.items() if schema is not None}
        return known if len(known) == len(schemas) else None

    def _of_table(self, name: str) -> Schema | None:
        """The columns of an existing table, with those of business time."""
        if name not in self._warehouse.entities:
            return None
        path = self._warehouse.table_path(name)
        if not table_exists(path):
            return None
        schema: Schema = json.loads(open_table(path).schema().to_json())
        return _with_time(schema, self._warehouse.entities[name])

    def _key(self, name: str, query: str, upstreams: Mapping[str, Schema]) -> str:
        parameters = sorted(sql_parameters(self._warehouse.graph, first_slice(self._warehouse.graph, name)))
        rules = [repr(rule) for rule in self._warehouse.entities[name].quality]
        text = json_text([_FORMAT, query, parameters, upstreams, rules, self._of_table(name)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _spark(self) -> SparkSession:
        return self._start()

    def _session_with(self, upstreams: Mapping[str, Schema]) -> SparkSession:
        from pyspark.sql.types import StructType  # noqa: PLC0415 - where nothing changed, no Spark

        session = self._spark.newSession()
        for upstream, schema in upstreams.items():
            session.createDataFrame([], StructType.fromJson(schema)).createOrReplaceTempView(upstream)
        return session

    def _analysed(self, name: str, upstreams: Mapping[str, Schema]) -> _Analysis:
        from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415 - where nothing changed, no Spark

        session = self._session_with(upstreams)
        parameters = sql_parameters(self._warehouse.graph, first_slice(self._warehouse.graph, name))
        try:
            result = session.sql(self._warehouse.queries[name], args=dict(parameters))
        except (AnalysisException, ParseException) as error:
            return _wrong(str(error))
        entity = self._warehouse.entities[name]
        schema = _with_time(result.schema.jsonValue(), entity)
        if unwritable := self._unwritable(name, result.schema):
            return _Analysis(None, unwritable)
        return _wrong_rule(session, entity.quality, schema) or _Analysis(schema)

    def _unwritable(self, name: str, rows: StructType) -> str:
        """The reason why such rows cannot be written to the entity's table, existing or new; empty if they can."""
        from pyspark.sql.types import NullType, StructType  # noqa: PLC0415 - where nothing changed, no Spark

        from tidemark.delta.schema_evolution import grown_schema  # noqa: PLC0415

        own, path = slice_column_types(self._warehouse.entities[name]), self._warehouse.table_path(name)
        written = StructType([field for field in rows if field.name.lower() not in own])
        there = StructType([field for field in self._written(name) if field.name.lower() not in own])
        if not any(not isinstance(field.dataType, NullType) for field in (*written, *there)):
            return "no column is left to write: a table needs a column besides partition columns and untyped NULLs"
        try:
            grown_schema(path, there, written)
        except SchemaChangedError as error:
            return " - ".join(part for part in (f"{error.message}: {error.found}", error.hint) if part)
        return ""

    def _written(self, name: str) -> StructType:
        """The columns of an entity's table; empty if it does not exist."""
        from pyspark.sql.types import StructType  # noqa: PLC0415 - where nothing changed, no Spark

        schema = self._of_table(name)
        return StructType.fromJson(schema) if schema is not None else StructType([])

    def _problem(self, name: str, analysis: _Analysis) -> EntityError:
        root = self._warehouse.settings.declarations
        if analysis.rule is not None:
            file = self._warehouse.entities[name].file
            document = read_document((root / file).read_text(encoding="utf-8"), file)
            return EntityError(analysis.message, where=f"{file}:{document.line(('quality', analysis.rule))}")
        path = self._warehouse.files[name][0].relative_to(root).as_posix()
        return EntityError(analysis.message, where=f"{path}:{analysis.line}:{analysis.position}")


def _wrong_rule(session: SparkSession, rules: Sequence[QualityRule], schema: Schema) -> _Analysis | None:
    """The first rule of the scan that Spark cannot evaluate over these columns."""
    from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415 - where nothing changed, no Spark
    from pyspark.sql import functions as sf  # noqa: PLC0415
    from pyspark.sql.types import StructType  # noqa: PLC0415

    from tidemark.compute.rule_measures import measure  # noqa: PLC0415

    rows = session.createDataFrame([], StructType.fromJson(schema))
    for at, rule in enumerate(rules):
        measured = measure(rule.NAME, rule)
        try:
            rows.agg(sf.expr(measured.expression if measured else "count(*)")).schema  # noqa: B018 - analysed when asked
        except (AnalysisException, ParseException) as error:
            return _Analysis(schema, f"{rule.NAME}: {_wrong(str(error)).message}", rule=at)
    return None


def _wrong(message: str) -> _Analysis:
    """The first paragraph of Spark's error, and its place."""
    place = _PLACE.search(message)
    line, position = (int(place[1]), int(place[2]) + 1) if place else (1, 1)
    words = " ".join(_SQLSTATE.sub("", message).split())
    return _Analysis(None, words[:_LONGEST], line, position)


def _with_time(schema: Schema, entity: Entity) -> Schema:
    """Adds the columns of business time, which snapshots' tables and queries' results do not have."""
    there = {field["name"] for field in schema["fields"]}
    more: list[dict[str, object]] = [
        {"name": name, "type": "integer" if type_ == "int" else type_, "nullable": True, "metadata": {}}
        for name, type_ in slice_column_types(entity).items()
        if name not in there
    ]
    return {**schema, "fields": [*schema["fields"], *more]}
