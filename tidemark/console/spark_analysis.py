"""Spark's answers about changed queries, for `plan` and `apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import SparkSession

    from tidemark.errors import EntityError
    from tidemark.warehouse.warehouse import Warehouse


class SparkAnalysis:
    """Spark starts at the first question that no cache answers."""

    def __init__(self, warehouse: Warehouse) -> None:
        from tidemark.compute.query_analysis import QueryAnalysis  # noqa: PLC0415 - keeps --help fast

        self._warehouse = warehouse
        self._analysis = QueryAnalysis(warehouse, self._start)

    def goes_by_clock(self, entity: str) -> bool:
        """Whether an entity's query gives other rows in UTC than in its own zone; True without Spark."""
        from tidemark.system.errors import JavaMissingError, SparkStartError  # noqa: PLC0415 - keeps --help fast

        try:
            return self._analysis.goes_by_clock(entity)
        except (JavaMissingError, SparkStartError):
            return True

    def unwritable(self, entities: Collection[str]) -> dict[str, EntityError]:
        """The entities whose queries Spark refuses, or whose rows Delta refuses; none without Spark."""
        from tidemark.system.errors import JavaMissingError, SparkStartError  # noqa: PLC0415 - keeps --help fast

        if not entities:
            return {}
        try:
            problems = self._analysis.problems()
        except (JavaMissingError, SparkStartError):
            return {}
        return {name: error for name, error in problems.items() if name in entities}

    def _start(self) -> SparkSession:
        from tidemark.spark.session import spark_session  # noqa: PLC0415 - keeps --help fast

        click.echo("starting Spark to analyse changed queries ...", err=True)
        return spark_session(self._warehouse.settings)
